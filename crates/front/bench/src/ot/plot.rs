//! Overheads by number of OTs, as text and as SVG.

/// A series of a plot: the letter that stands for it in text, its name, and its colour (of Okabe and Ito's palette, which
/// everybody can tell apart).
#[derive(Clone, Copy)]
pub(super) struct Series {
    pub(super) letter: char,
    pub(super) name: &'static str,
    pub(super) colour: &'static str,
}

/// A plot of the cost of some series, relative to a base line of one.
pub(super) struct Plot {
    pub(super) title: String,
    pub(super) baseline: &'static str,
    /// The x axis: log2 of the numbers.
    pub(super) sizes: &'static [u32],
    pub(super) series: &'static [Series],
    /// The points: log2 of the number, which series, and how many times the base line it took.
    pub(super) points: Vec<(u32, usize, f64)>,
}

impl Plot {
    /// The highest overhead that is drawn: a run that was disturbed shall not squeeze the others.
    const TOP: f64 = 5.0;

    /// The plot, drawn with letters.
    pub(super) fn text(&self) -> String {
        /// Lines of the plot for an overhead of one.
        const SCALE: f64 = 4.0;
        /// Columns of one size.
        const WIDTH: usize = 8;
        let line = |overhead: f64| (overhead.min(Plot::TOP) * SCALE).round() as usize;
        let top = self.points.iter().map(|&(_, _, overhead)| line(overhead)).max().unwrap_or(0) + 1;
        let mut grid = vec![vec![' '; WIDTH * self.sizes.len()]; top + 1];
        grid[line(1.0).min(top)].fill('-');
        for &(size, series, overhead) in &self.points {
            // The series of one size stand side by side, so that none hides another.
            let column = self.sizes.iter().position(|&other| other == size).expect("one of the sizes") * WIDTH;
            grid[line(overhead)][column + 1 + series] = self.series[series].letter;
        }
        let mut text = String::new();
        for (i, cells) in grid.iter().enumerate().rev() {
            let cells: String = cells.iter().collect();
            text += &format!("{:>6.2} |{}\n", i as f64 / SCALE, cells.trim_end());
        }
        let sizes: String = self.sizes.iter().map(|size| format!("{:<WIDTH$}", format!(" 2^{size}"))).collect();
        text += &format!("{:8}{}\n{:8}- {}", "", sizes.trim_end(), "", self.baseline);
        let legend: String = self.series.iter().map(|s| format!("   {} {}", s.letter, s.name)).collect();
        text + &legend + "\n"
    }

    /// Several plots side by side.
    pub(super) fn svg(plots: &[Plot]) -> String {
        const WIDTH: usize = 460;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} 340\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            WIDTH * plots.len()
        );
        for (i, plot) in plots.iter().enumerate() {
            svg += &format!("<g transform=\"translate({} 0)\">\n{}</g>\n", WIDTH * i, plot.panel());
        }
        svg + "</svg>\n"
    }

    /// One plot, 460 by 340, its axes from (50, 290) to (440, 50).
    fn panel(&self) -> String {
        let highest = self.points.iter().map(|point| point.2).fold(1.0, f64::max).min(Plot::TOP);
        let top = (2.0 * highest).floor() / 2.0 + 0.5;
        let (first, last) = (self.sizes[0], self.sizes[self.sizes.len() - 1]);
        let x = |size: u32| 60.0 + 370.0 * f64::from(size - first) / f64::from((last - first).max(1));
        let y = |overhead: f64| 290.0 - 240.0 * overhead / top;
        let label = |x: f64, y: f64, anchor: &str, text: &str| {
            format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", escaped(text))
        };
        let line = |x1: f64, y1: f64, x2: f64, y2: f64, style: &str| {
            format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>\n")
        };
        let mut svg = label(245.0, 22.0, "middle", &self.title);
        for half in 0..=(2.0 * top) as u32 {
            let value = f64::from(half) / 2.0;
            let style = if value == 1.0 { "stroke=\"black\" stroke-dasharray=\"4 3\"" } else { "stroke=\"#ddd\"" };
            svg += &line(50.0, y(value), 440.0, y(value), style);
            svg += &label(44.0, y(value) + 4.0, "end", &format!("{value:.1}"));
        }
        for &size in self.sizes {
            svg += &line(x(size), 290.0, x(size), 295.0, "stroke=\"black\"");
            svg += &format!(
                "<text x=\"{:.1}\" y=\"310\" text-anchor=\"middle\">2<tspan dy=\"-5\" font-size=\"9\">{size}</tspan></text>\n",
                x(size)
            );
        }
        svg += &line(50.0, 290.0, 440.0, 290.0, "stroke=\"black\"");
        svg += &label(245.0, 330.0, "middle", &format!("OTs; times the run time of {}", self.baseline));
        for (i, series) in self.series.iter().enumerate() {
            let own = self.points.iter().filter(|point| point.1 == i);
            let points: Vec<(f64, f64)> = own.map(|point| (x(point.0), y(point.2.min(Plot::TOP)))).collect();
            let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let Series { colour, name, .. } = series;
            svg += &format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n",
                path.join(" ")
            );
            for (x, y) in points {
                svg += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>\n");
            }
            let at = 70.0 + 95.0 * i as f64;
            svg += &line(at, 36.0, at + 18.0, 36.0, &format!("stroke=\"{colour}\" stroke-width=\"3\""));
            svg += &label(at + 23.0, 40.0, "start", name);
        }
        svg
    }
}

/// Text as XML has it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERIES: [Series; 3] = [
        Series { letter: 's', name: "SR-OT", colour: "#0072b2" },
        Series { letter: 'c', name: "C-OT", colour: "#e69f00" },
        Series { letter: 'o', name: "OT", colour: "#d55e00" },
    ];

    fn plot(points: Vec<(u32, usize, f64)>) -> Plot {
        Plot { title: "a < b & c".into(), baseline: "R-OT", sizes: &[10, 12, 24], series: &SERIES, points }
    }

    #[test]
    fn every_point_is_drawn_where_it_belongs() {
        let drawn = plot(vec![(10, 0, 1.0), (10, 2, 2.5), (24, 1, 1.5), (12, 2, 99.0)]).text();
        let line = |of: &str| drawn.lines().find(|line| line.trim_start().starts_with(of)).unwrap().to_owned();
        assert!(line("2.50").contains('o') && line("1.50").ends_with('c') && line("1.00").contains("-s-"));
        assert!(line("5.00").ends_with('o'), "what is too high stands at the top");
        assert!(drawn.contains("2^24") && drawn.contains("o OT"));
        assert!(line("1.50").len() > line("2.50").len(), "larger sizes stand further right");
    }

    #[test]
    fn the_drawing_has_a_curve_for_each_series_and_every_point() {
        let points = vec![(10, 0, 1.0), (24, 0, 2.0), (10, 2, 2.0), (12, 2, 99.0)];
        let svg = Plot::svg(&[plot(points), plot(Vec::new())]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("a &lt; b &amp; c"));
        let count = |what: &str| svg.matches(what).count();
        assert_eq!((count("<g "), count("</g>"), count("<circle "), count("<polyline ")), (2, 2, 4, 6));
        // Twice as high, from the axis at 290 to the top, 5.5, at 50; what is too high stays inside.
        assert!(svg.contains("cx=\"60.0\" cy=\"246.4\"") && svg.contains("cx=\"430.0\" cy=\"202.7\""));
        assert!(svg.contains("cx=\"112.9\" cy=\"71.8\""), "{svg}");
    }
}
