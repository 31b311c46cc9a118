//! Charts as SVG: curves over two axes, and bars over one, some of them side by side to be compared. Colours
//! are of Okabe and Ito's palette, which everybody can tell apart.

/// The colours of series, in order; more than these begin again.
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6bb1"];

/// The width of a panel, and the height of one with curves.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 360.0;

/// The most panels side by side; the next stand below.
const ABREAST: usize = 3;

/// The most points of a curve that are marked.
const MEASURED: usize = 16;

/// The height of a bar's row, and of the space between groups of bars.
const ROW: f64 = 22.0;
const GAP: f64 = 8.0;

/// One chart of several.
pub enum Panel {
    /// Curves.
    Curves(Curves),
    /// Bars.
    Bars(Bars),
}

/// Curves.
pub struct Curves {
    /// The title: what the chart shows.
    pub title: String,
    /// The text below the horizontal axis.
    pub x: String,
    /// The quantity on the vertical axis.
    pub y: String,
    /// The scales of the axes: the horizontal one, then the vertical one.
    pub scales: [Scale; 2],
    /// Each curve: its name, and its points, all above zero.
    pub series: Vec<(String, Vec<(f64, f64)>)>,
}

/// Horizontal bars over a logarithmic axis.
pub struct Bars {
    /// The title: what the chart shows.
    pub title: String,
    /// The unit of the axis.
    pub unit: String,
    /// The names of what is compared within each group, with one colour each; empty if each bar stands for
    /// itself.
    pub series: Vec<String>,
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

/// One bar.
pub struct Bar {
    /// The bar's name; empty if it belongs to the group of the bar above.
    pub name: String,
    /// Its length, above zero.
    pub value: f64,
    /// The text behind the bar.
    pub label: String,
    /// A mark on the bar, at the best possible value or at that of others.
    pub mark: Option<f64>,
    /// The colour: an index into `series`, or any number.
    pub colour: usize,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By powers of ten.
    Decades,
    /// By powers of two.
    Doublings,
    /// From zero, evenly.
    Even,
}

impl Panel {
    fn height(&self) -> f64 {
        match self {
            Panel::Curves(_) => HEIGHT,
            Panel::Bars(bars) => bars.bottom() + 44.0,
        }
    }

    fn svg(&self) -> String {
        match self {
            Panel::Curves(curves) => curves.svg(),
            Panel::Bars(bars) => bars.svg(),
        }
    }
}

/// An SVG image of the panels, in rows.
pub fn svg(panels: &[Panel]) -> String {
    let (mut inside, mut top) = (String::new(), 0.0);
    for row in panels.chunks(ABREAST) {
        for (i, panel) in row.iter().enumerate() {
            let left = WIDTH * i as f64;
            inside += &format!("<g transform=\"translate({left:.0} {top:.0})\">\n{}</g>\n", panel.svg());
        }
        top += row.iter().map(Panel::height).fold(0.0, f64::max);
    }
    let (width, height) = (WIDTH * panels.len().clamp(1, ABREAST) as f64, top.max(120.0));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{inside}</svg>\n"
    )
}

/// An axis: its ends in powers, or in steps of even ones.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    fn of(scale: Scale, values: impl Iterator<Item = f64> + Clone) -> Axis {
        let usable = values.filter(|value| *value > 0.0 && value.is_finite());
        let least = usable.clone().fold(f64::INFINITY, f64::min);
        let most = usable.fold(0.0, f64::max);
        if most == 0.0 {
            return Axis { scale, low: 0.0, high: 1.0, step: 1.0 };
        }
        if scale == Scale::Even {
            let decade = 10f64.powf(most.log10().floor());
            let fits = [0.2, 0.5, 1.0, 2.0].map(|part| part * decade).into_iter().find(|step| most / step <= 6.0);
            let step = fits.unwrap_or(decade);
            return Axis { scale, low: 0.0, high: (most / step).ceil() * step, step };
        }
        let (low, high) = (scale.power(least).floor(), scale.power(most).ceil());
        let high = high.max(low + 1.0);
        Axis { scale, low, high, step: ((high - low) / 8.0).floor() + 1.0 }
    }

    /// Where a value is, from 0 to 1.
    fn at(&self, value: f64) -> f64 {
        ((self.scale.power(value) - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// The values that are marked.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let steps = ((self.high - self.low) / self.step).round() as u32;
        (0..=steps).map(|i| self.scale.value(self.low + self.step * f64::from(i)))
    }
}

impl Scale {
    /// Where a value is on an axis that goes to both sides without end.
    fn power(self, value: f64) -> f64 {
        match self {
            Scale::Decades => value.max(f64::MIN_POSITIVE).log10(),
            Scale::Doublings => value.max(f64::MIN_POSITIVE).log2(),
            Scale::Even => value,
        }
    }

    fn value(self, power: f64) -> f64 {
        match self {
            Scale::Decades => 10f64.powf(power),
            Scale::Doublings => power.exp2(),
            Scale::Even => power,
        }
    }

    /// The text at a mark, in its shortest usual form.
    fn tick(self, value: f64) -> String {
        match self {
            Scale::Doublings if value >= 2.0 => format!("2^{:.0}", value.log2()),
            _ if value == 0.0 => "0".into(),
            _ => crate::numbers::scaled(value).replacen(".00", "", 1).replacen(".0", "", 1),
        }
    }
}

fn label(x: f64, y: f64, anchor: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n")
}

fn line(from: (f64, f64), to: (f64, f64), style: &str) -> String {
    format!("<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>\n", from.0, from.1, to.0, to.1)
}

impl Curves {
    /// The axes go from (70, 300) to (400, 60); names stand to the right, in the order of the last points.
    fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|(_, points)| points.iter().copied());
        let [across, up] = self.scales;
        let (across, up) = (Axis::of(across, points().map(|p| p.0)), Axis::of(up, points().map(|p| p.1)));
        let x = |value: f64| 70.0 + 330.0 * across.at(value);
        let y = |value: f64| 300.0 - 240.0 * up.at(value);
        let mut svg = label(235.0, 24.0, "middle", &self.title) + &label(70.0, 46.0, "middle", &self.y);
        for value in across.ticks() {
            svg += &line((x(value), 60.0), (x(value), 300.0), "stroke=\"#eee\"");
            svg += &label(x(value), 317.0, "middle", &across.scale.tick(value));
        }
        for value in up.ticks() {
            svg += &line((70.0, y(value)), (400.0, y(value)), "stroke=\"#ddd\"");
            svg += &label(64.0, y(value) + 4.0, "end", &up.scale.tick(value));
        }
        svg += &label(235.0, 340.0, "middle", &self.x);
        let mut names: Vec<(f64, usize)> = Vec::new();
        for (i, (_, points)) in self.series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let path: Vec<String> = points.iter().map(|&(px, py)| format!("{:.1},{:.1}", x(px), y(py))).collect();
            let path = path.join(" ");
            svg += &format!("<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n");
            // Measured points are seen; of a formula's many there is the curve.
            for &(px, py) in points.iter().filter(|_| points.len() <= MEASURED) {
                svg += &format!("<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>\n", x(px), y(py));
            }
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
    /// The place of the first bar: below the title, and below the names of series, three of which stand in a
    /// line.
    fn top(&self) -> f64 {
        46.0 + 16.0 * self.series.len().div_ceil(3) as f64
    }

    /// Where the last bar ends.
    fn bottom(&self) -> f64 {
        let groups = self.bars.iter().skip(1).filter(|bar| self.begins(bar)).count();
        self.top() + 4.0 + ROW * self.bars.len() as f64 + GAP * groups as f64
    }

    /// Whether a bar is the first of a group.
    fn begins(&self, bar: &Bar) -> bool {
        !self.series.is_empty() && !bar.name.is_empty()
    }

    /// Names end at 170, and bars go from there to 430.
    fn svg(&self) -> String {
        let values = self.bars.iter().flat_map(|bar| [Some(bar.value), bar.mark]).flatten();
        let axis = Axis::of(Scale::Decades, values);
        let x = |value: f64| 170.0 + 260.0 * axis.at(value);
        let (mut top, bottom) = (self.top(), self.bottom());
        let mut svg = label(260.0, 24.0, "middle", &self.title);
        for (i, series) in self.series.iter().enumerate() {
            let (left, at) = (60.0 + 150.0 * (i % 3) as f64, 42.0 + 16.0 * (i / 3) as f64);
            let colour = COLOURS[i % COLOURS.len()];
            svg += &line((left, at), (left + 14.0, at), &format!("stroke=\"{colour}\" stroke-width=\"6\""));
            svg += &label(left + 19.0, at + 4.0, "start", series);
        }
        for value in axis.ticks() {
            svg += &line((x(value), top - 6.0), (x(value), bottom), "stroke=\"#ddd\"");
            svg += &label(x(value), bottom + 16.0, "middle", &axis.scale.tick(value));
        }
        for (i, bar) in self.bars.iter().enumerate() {
            if i > 0 && self.begins(bar) {
                top += GAP;
            }
            // A bar as short as the axis begins is still to be seen.
            let (width, colour) = ((x(bar.value) - 170.0).max(2.0), COLOURS[bar.colour % COLOURS.len()]);
            svg += &label(164.0, top + 12.0, "end", &bar.name);
            svg += &format!(
                "<rect x=\"170\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.0}\" fill=\"{colour}\"/>\n",
                ROW - 6.0
            );
            svg += &label(176.0 + width, top + 12.0, "start", &bar.label);
            if let Some(mark) = bar.mark {
                svg += &line((x(mark), top - 2.0), (x(mark), top + ROW - 4.0), "stroke=\"black\" stroke-width=\"2\"");
            }
            top += ROW;
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
            scales: [Scale::Decades; 2],
            series: vec![("a".into(), vec![(1e6, 100.0), (1e8, 1.0)]), ("b".into(), vec![(1e6, 10.0), (1e8, 1.0)])],
        };
        let bar =
            |name: &str, value, mark| Bar { name: name.into(), value, label: format!("{value}"), mark, colour: 0 };
        let bars = Bars {
            title: "bytes".into(),
            unit: "B".into(),
            series: Vec::new(),
            bars: vec![bar("x", 1e3, None), bar("y", 1e5, Some(1e4))],
        };
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
        let empty = Curves {
            title: String::new(),
            x: String::new(),
            y: String::new(),
            scales: [Scale::Doublings, Scale::Even],
            series: vec![("a".into(), vec![])],
        };
        assert!(svg(&[Panel::Curves(empty)]).contains("polyline"));
    }

    #[test]
    fn axes_have_marks_where_people_expect_them() {
        let ticks = |scale: Scale, values: &[f64]| -> Vec<String> {
            let axis = Axis::of(scale, values.iter().copied());
            axis.ticks().map(|value| scale.tick(value)).collect()
        };
        assert_eq!(ticks(Scale::Decades, &[20.0, 3e3]), ["10", "100", "1 k", "10 k"]);
        assert_eq!(ticks(Scale::Doublings, &[1024.0, 4096.0]), ["2^10", "2^11", "2^12"]);
        assert_eq!(ticks(Scale::Even, &[1.0, 2.3]), ["0", "500 m", "1", "1.50", "2", "2.50"]);
        assert_eq!(ticks(Scale::Even, &[7e4]), ["0", "20 k", "40 k", "60 k", "80 k"]);
        let even = Axis::of(Scale::Even, [8.0].into_iter());
        assert_eq!((even.at(0.0), even.at(4.0), even.at(8.0)), (0.0, 0.5, 1.0));
    }

    #[test]
    fn what_is_compared_has_a_colour_and_a_name() {
        let bar =
            |name: &str, value, colour| Bar { name: name.into(), value, label: String::new(), mark: None, colour };
        let bars = Bars {
            title: String::new(),
            unit: "s".into(),
            series: vec!["paper".into(), "here".into()],
            bars: vec![bar("aes", 10.0, 0), bar("", 1.0, 1), bar("sha", 100.0, 0), bar("", 10.0, 1)],
        };
        let svg = svg(&[Panel::Bars(bars)]);
        assert!(svg.contains(">paper<") && svg.contains(">here<"));
        let fills = |colour: &str| svg.matches(&format!("fill=\"{colour}\"")).count();
        assert_eq!((fills(COLOURS[0]), fills(COLOURS[1])), (2, 2));
        // Two of a group follow each other at once, and the next group stands apart.
        let tops = ["62.0", "84.0", "114.0", "136.0"];
        assert!(tops.iter().all(|top| svg.contains(&format!("<rect x=\"170\" y=\"{top}\""))), "{svg}");
    }

    #[test]
    fn the_fourth_panel_begins_a_row() {
        let panel = || Panel::Bars(Bars { title: String::new(), unit: String::new(), series: vec![], bars: vec![] });
        let svg = svg(&[panel(), panel(), panel(), panel()]);
        assert!(svg.contains("viewBox=\"0 0 1560 188\""), "{svg}");
        assert!(svg.contains("translate(1040 0)") && svg.contains("translate(0 94)"), "{svg}");
    }
}
