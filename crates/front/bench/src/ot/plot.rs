//! Overheads by number of OTs, as text and as a drawing.

use comity_terminal::chart::{Curves, Panel, Scale};

/// A series of a plot: the letter that stands for it in text, and its name.
#[derive(Clone, Copy)]
pub(super) struct Series {
    pub(super) letter: char,
    pub(super) name: &'static str,
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

    /// The plot as a panel. Values that are too high stand at the top.
    pub(super) fn panel(&self) -> Panel {
        let curve = |(at, series): (usize, &Series)| {
            let own = self.points.iter().filter(|point| point.1 == at);
            let points = own.map(|&(size, _, overhead)| (f64::from(size).exp2(), overhead.min(Plot::TOP)));
            (series.name.to_owned(), points.collect())
        };
        let base = self.sizes.iter().map(|&size| (f64::from(size).exp2(), 1.0)).collect();
        let curves = self.series.iter().enumerate().map(curve);
        Panel::Curves(Curves {
            title: self.title.clone(),
            x: "OTs".into(),
            y: format!("times {}", self.baseline),
            scales: [Scale::Doublings, Scale::Even],
            series: curves.chain([(self.baseline.to_owned(), base)]).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERIES: [Series; 3] = [
        Series { letter: 's', name: "SR-OT" },
        Series { letter: 'c', name: "C-OT" },
        Series { letter: 'o', name: "OT" },
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
        let Panel::Curves(curves) = plot(vec![(10, 0, 1.0), (24, 0, 2.0), (10, 2, 2.0), (12, 2, 99.0)]).panel() else {
            panic!("curves")
        };
        let names: Vec<&str> = curves.series.iter().map(|series| series.0.as_str()).collect();
        assert_eq!(names, ["SR-OT", "C-OT", "OT", "R-OT"]);
        assert_eq!(curves.series[0].1, [(1024.0, 1.0), (f64::from(1 << 24), 2.0)]);
        assert_eq!(curves.series[2].1, [(1024.0, 2.0), (4096.0, Plot::TOP)]);
        assert_eq!(curves.series[3].1.len(), 3, "the base line goes over all sizes");
    }
}
