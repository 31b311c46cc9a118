//! Charts as SVG: curves over two logarithmic axes, and bars over one. Colours are of Okabe and Ito's palette, which everybody can tell
//! apart.

/// The colours of series, in order; more than these begin again.
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6bb1"];

/// The width of a panel, and the height of one with curves.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 360.0;

/// The height of a bar's row.
const ROW: f64 = 22.0;

/// One chart of several that stand side by side.
pub enum Panel {
    /// Curves.
    Curves(Curves),
    /// Bars.
    Bars(Bars),
}

/// Curves over logarithmic axes.
pub struct Curves {
    /// What the chart shows.
    pub title: String,
    /// What stands below the horizontal axis.
    pub x: String,
    /// What the vertical axis counts.
    pub y: String,
    /// Each curve: its name, and its points, all above zero.
    pub series: Vec<(String, Vec<(f64, f64)>)>,
}

/// Horizontal bars over a logarithmic axis.
pub struct Bars {
    /// What the chart shows.
    pub title: String,
    /// What the axis counts.
    pub unit: String,
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

/// One bar.
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its length, above zero.
    pub value: f64,
    /// What stands behind it.
    pub label: String,
    /// A mark at what could be reached at most, or at what others have.
    pub mark: Option<f64>,
}

/// The panels side by side.
pub fn svg(panels: &[Panel]) -> String {
    let heights = panels.iter().map(|panel| match panel {
        Panel::Curves(_) => HEIGHT,
        Panel::Bars(bars) => 90.0 + ROW * bars.bars.len() as f64,
    });
    let height = heights.fold(120.0, f64::max);
    let width = WIDTH * panels.len().max(1) as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (i, panel) in panels.iter().enumerate() {
        let inside = match panel {
            Panel::Curves(curves) => curves.svg(),
            Panel::Bars(bars) => bars.svg(),
        };
        svg += &format!("<g transform=\"translate({:.0} 0)\">\n{inside}</g>\n", WIDTH * i as f64);
    }
    svg + "</svg>\n"
}

/// A logarithmic axis of whole decades.
struct Axis {
    low: i32,
    high: i32,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Axis {
        let usable = values.filter(|value| *value > 0.0 && value.is_finite());
        let low = usable.clone().fold(f64::INFINITY, f64::min);
        let high = usable.fold(0.0, f64::max);
        if high == 0.0 {
            return Axis { low: 0, high: 1 };
        }
        let (low, high) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        Axis { low, high: high.max(low + 1) }
    }

    /// Where a value is, from 0 to 1.
    fn at(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE).log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        share.clamp(0.0, 1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let step = ((self.high - self.low) / 8 + 1) as usize;
        (self.low..=self.high).step_by(step).map(|power| 10f64.powi(power))
    }
}

fn label(x: f64, y: f64, anchor: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n")
}

fn line(from: (f64, f64), to: (f64, f64), style: &str) -> String {
    format!("<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>\n", from.0, from.1, to.0, to.1)
}

/// A power of ten, with the prefix that people know.
fn tick(value: f64) -> String {
    let text = crate::numbers::scaled(value);
    text.replacen(".00", "", 1).replacen(".0", "", 1)
}

impl Curves {
    /// The axes go from (70, 300) to (400, 60); names stand to the right, in the order of the last points.
    fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|(_, points)| points.iter().copied());
        let (across, up) = (Axis::of(points().map(|p| p.0)), Axis::of(points().map(|p| p.1)));
        let x = |value: f64| 70.0 + 330.0 * across.at(value);
        let y = |value: f64| 300.0 - 240.0 * up.at(value);
        let mut svg = label(235.0, 24.0, "middle", &self.title) + &label(70.0, 46.0, "middle", &self.y);
        for value in across.ticks() {
            svg += &line((x(value), 60.0), (x(value), 300.0), "stroke=\"#eee\"");
            svg += &label(x(value), 317.0, "middle", &tick(value));
        }
        for value in up.ticks() {
            svg += &line((70.0, y(value)), (400.0, y(value)), "stroke=\"#ddd\"");
            svg += &label(64.0, y(value) + 4.0, "end", &tick(value));
        }
        svg += &label(235.0, 340.0, "middle", &self.x);
        let mut names: Vec<(f64, usize)> = Vec::new();
        for (i, (_, points)) in self.series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let path: Vec<String> = points.iter().map(|&(px, py)| format!("{:.1},{:.1}", x(px), y(py))).collect();
            let path = path.join(" ");
            svg += &format!("<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n");
            names.extend(points.last().map(|&(_, last)| (y(last), i)));
        }
        // No name hides another, and none hides the axis below.
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut least = 0.0;
        for (at, _) in &mut names {
            *at = f64::max(*at, least);
            least = *at + 15.0;
        }
        let mut most = 300.0;
        for (at, _) in names.iter_mut().rev() {
            *at = f64::min(*at, most);
            most = *at - 15.0;
        }
        for (at, i) in names {
            let colour = COLOURS[i % COLOURS.len()];
            svg += &line((406.0, at), (420.0, at), &format!("stroke=\"{colour}\" stroke-width=\"3\""));
            svg += &label(425.0, at + 4.0, "start", &self.series[i].0);
        }
        svg
    }
}

impl Bars {
    /// Names end at 170, and bars go from there to 430.
    fn svg(&self) -> String {
        let values = self.bars.iter().flat_map(|bar| [Some(bar.value), bar.mark]).flatten();
        let axis = Axis::of(values);
        let x = |value: f64| 170.0 + 260.0 * axis.at(value);
        let bottom = 50.0 + ROW * self.bars.len() as f64;
        let mut svg = label(260.0, 24.0, "middle", &self.title);
        for value in axis.ticks() {
            svg += &line((x(value), 40.0), (x(value), bottom), "stroke=\"#ddd\"");
            svg += &label(x(value), bottom + 16.0, "middle", &tick(value));
        }
        for (i, bar) in self.bars.iter().enumerate() {
            let (top, colour) = (46.0 + ROW * i as f64, COLOURS[i % COLOURS.len()]);
            // A bar as short as the axis begins is still to be seen.
            let width = (x(bar.value) - 170.0).max(2.0);
            svg += &label(164.0, top + 12.0, "end", &bar.name);
            svg += &format!(
                "<rect x=\"170\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.0}\" fill=\"{colour}\"/>\n",
                ROW - 6.0
            );
            svg += &label(176.0 + width, top + 12.0, "start", &bar.label);
            if let Some(mark) = bar.mark {
                svg += &line((x(mark), top - 2.0), (x(mark), top + ROW - 4.0), "stroke=\"black\" stroke-width=\"2\"");
            }
        }
        svg + &label(300.0, bottom + 34.0, "middle", &self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_and_bars_are_where_their_values_are() {
        let curves = Curves {
            title: "time < all".into(),
            x: "bit/s".into(),
            y: "s".into(),
            series: vec![("a".into(), vec![(1e6, 100.0), (1e8, 1.0)]), ("b".into(), vec![(1e6, 10.0), (1e8, 1.0)])],
        };
        let bar = |name: &str, value, mark| Bar { name: name.into(), value, label: format!("{value}"), mark };
        let bars =
            Bars { title: "bytes".into(), unit: "B".into(), bars: vec![bar("x", 1e3, None), bar("y", 1e5, Some(1e4))] };
        let svg = svg(&[Panel::Curves(curves), Panel::Bars(bars)]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("time &lt; all"));
        assert!(svg.contains("70.0,60.0 400.0,300.0"), "{svg}");
        assert!(svg.contains("70.0,180.0 400.0,300.0"), "{svg}");
        // Names of curves that end at one point stand one below another.
        assert!(
            svg.contains("y=\"289.0\" text-anchor=\"start\">a<")
                && svg.contains("y=\"304.0\" text-anchor=\"start\">b<"),
            "{svg}"
        );
        assert!(
            svg.contains("width=\"2.0\"") && svg.contains("width=\"260.0\"") && svg.contains("x1=\"300.0\""),
            "{svg}"
        );
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(svg(&[]).contains("<svg"));
        let empty =
            Curves { title: String::new(), x: String::new(), y: String::new(), series: vec![("a".into(), vec![])] };
        assert!(svg(&[Panel::Curves(empty)]).contains("polyline"));
    }
}
