//! Text in lines.

/// Text in lines of at most so many characters, the first behind a label and the others below it.
pub fn fill(label: &str, text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = label.to_owned();
    for word in text.split_whitespace() {
        if line.len() > label.len() && line.chars().count() + 1 + word.chars().count() > width {
            lines += line.trim_end();
            lines.push('\n');
            line = " ".repeat(label.len());
        }
        if line.len() > label.len() {
            line.push(' ');
        }
        line += word;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_filled_below_its_label() {
        assert_eq!(fill("ab ", "one two three four", 12), "ab one two\n   three\n   four\n");
    }
}
