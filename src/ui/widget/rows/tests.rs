//! Rows are filtered, sorted, added up and copied; the example is fruit.

use super::*;

struct Fruit;

const FRUIT: [(&str, u64); 4] =
    [("pear, green", 5), ("Apple", 9), ("say \"fig\"", 1), ("apple", 9)];

impl Rows for Fruit {
    fn len(&self) -> usize {
        FRUIT.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let (name, bytes) = FRUIT[row];
        if column == 0 { CellValue::text(name) } else { CellValue::Bytes(bytes) }
    }
}

#[test]
fn rows_are_filtered_sorted_and_added_up() {
    let columns = [TableColumn::rest("Fruit"), TableColumn::bytes("Weight", 50.0)];
    let all = order(&Fruit, &columns, "", Some((1, true)));
    assert_eq!(all.rows, [1, 3, 0, 2], "equal rows stay in their order");
    assert_eq!(all.totals, [CellValue::Nothing, CellValue::Bytes(24)]);
    let apples = order(&Fruit, &columns, "APPLE", Some((0, false)));
    assert_eq!(apples.rows, [1, 3]);
    assert_eq!(apples.totals[1], CellValue::Bytes(18));
    let none = order(&Fruit, &columns, "kiwi", None);
    assert!(none.rows.is_empty());
}

#[test]
fn rates_are_sorted_by_their_size() {
    let mut rates = [9.5, 23.1, 7472.0, 95.0, 1.0].map(CellValue::Rate);
    rates.sort_by(CellValue::order);
    assert_eq!(rates, [1.0, 9.5, 23.1, 95.0, 7472.0].map(CellValue::Rate));
    let texts = rates.map(|rate| rate.shown(Units::Binary).into_owned());
    assert_eq!(texts, ["1.00", "9.50", "23.10", "95.00", "7,472"]);
    let mut changes = [-3.5, 250.0, -1200.0, 40.0].map(CellValue::RateChange);
    changes.sort_by(CellValue::order);
    let texts = changes.map(|change| change.shown(Units::Binary).into_owned());
    assert_eq!(texts, ["▼ −1,200", "−3.50", "+40.00", "▲ +250"]);
    assert_eq!(CellValue::RateChange(-1200.4).plain(), "-1200");
}

#[test]
fn csv_quotes_what_needs_it() {
    let columns = [TableColumn::rest("Fruit"), TableColumn::bytes("Weight", 50.0)];
    let text = csv(&Fruit, &columns, &[0, 2]);
    assert_eq!(text, "Fruit,Weight (bytes)\n\"pear, green\",5\n\"say \"\"fig\"\"\",1\n");
}

#[test]
fn changes_have_a_sign() {
    assert_eq!(CellValue::change(10, 4), CellValue::Change(-6));
    assert_eq!(CellValue::change(u64::MAX, 0), CellValue::Change(i64::MIN));
    assert_eq!(signed(2, |bytes| bytes.to_string()), "▲ +2");
    assert_eq!(signed(-2, |bytes| bytes.to_string()), "▼ −2");
    assert_eq!(CellValue::count_change(2, 5), CellValue::CountChange(3));
    let texts = [181.04, -42.87, 0.04, 100.0].map(percent_text);
    assert_eq!(texts, ["+181 %", "−42.9 %", "0 %", "+100 %"]);
    let texts = [900.0, 950.0, 60_050.0, 27_919_236.0].map(percent_text);
    assert_eq!(texts, ["+900 %", "×10.5", "×602", "×279,193"]);
}
