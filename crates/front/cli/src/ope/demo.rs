//! `comity ope demo`: everything once, on a PostgreSQL server of its own.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use comity_net::SystemRng;
use comity_ope::{Column, ColumnType, ColumnValue, OpeKey, OpeScheme};
use comity_postgres::server::Server;
use comity_postgres::{self as pg, NewRow, Query, Table, cache_path};
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};
use rand_core::Rng;

use super::args::DemoArgs;
use super::report::Report;
use super::{answer, csv, leakage};

/// A folder that goes when this does.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const COLUMNS: [(&str, &str, OpeScheme); 3] = [
    ("salary", "bigint", OpeScheme::LeftRight),
    ("grade", "smallint", OpeScheme::Ideal),
    ("birthday", "date", OpeScheme::FrequencyHiding),
];

/// The command.
pub(super) fn run(args: &DemoArgs) -> Outcome {
    let start = Instant::now();
    let Some(server) = Server::start()? else {
        return Err(Failure::input(
            "PostgreSQL is not installed here: its programs initdb and pg_ctl are neither in PATH nor in /usr/lib/postgresql",
        ));
    };
    let folder = Folder(std::env::temp_dir().join(format!("comity-ope-demo-{}", std::process::id())));
    fs::create_dir_all(&folder.0).map_err(|error| Failure::input(format!("{}: {error}", folder.0.display())))?;
    let path = folder.0.join("staff.key");
    let (rng, address) = (&mut SystemRng, server.database()?);
    let mut client = pg::connect(&address, None)?;
    client.batch_execute("create table staff (name text)").map_err(pg::Error::from)?;
    let mut key = OpeKey::new(&address, pg::resolve(&mut client, pg::table_name("staff")?)?, rng);
    for (name, ty, scheme) in COLUMNS {
        key.columns.push(Column { name: name.into(), ty: ty.parse()?, scheme, wide: false, adjustable: false });
    }
    pg::create_key(&path, &key)?;
    for (name, ..) in COLUMNS {
        pg::add_column(&mut client, &key, name, rng)?;
    }
    let mut table = Table::open(&mut client, key, Some(&cache_path(&path)), rng)?;
    let rows = staff(args.rows)?;
    let names = COLUMNS.map(|column| column.0);
    table.transact(&mut client, |work| work.insert_many(&["name"], &names, &rows))?;
    table.save()?;
    note(&format!("{} rows of staff are in a PostgreSQL of their own, three columns encrypted", args.rows));

    let asked = "salary between 40000 and 42000 order by salary limit 5";
    let found = table.select(&mut client, &Query::parse(asked)?)?;
    let (names, lines) = answer(&table, &found);
    let mut report = Report::new(&table, start);
    report.rows = Some(found.len() as u64);
    let mut text = format!("\n$ comity ope query \"{asked}\" --from staff\n");
    [&names].into_iter().chain(&lines).for_each(|record| text += &csv::line(record.iter().map(Option::as_deref)));
    text += "\nwhat the database has of two of them:\n";
    let seen = client.query(
        "select name, left(salary_order::text, 20), grade_order::text, birthday_order::text, left(birthday_sealed::text, 20) from staff limit 2",
        &[],
    );
    for row in seen.map_err(pg::Error::from)? {
        let texts: Vec<String> = (0..5).map(|i| row.get::<_, Option<String>>(i).unwrap_or_default()).collect();
        let [name, salary, grade, birthday, sealed] = &texts[..] else { unreachable!("five were asked for") };
        text += &format!("name {name}, salary {salary}…, grade {grade}, birthday {birthday}, sealed {sealed}…\n");
    }
    let mut attacks = Vec::new();
    let others = staff(args.rows)?;
    for (name, ..) in COLUMNS {
        let codes = table.codes(&mut client, name)?;
        // The thief knows another company of the same kind.
        let at = COLUMNS.iter().position(|known| known.0 == name).unwrap_or_default();
        let public = others.iter().filter_map(|row| row.secret[at].as_ref()).map(|value| (value.order(), 1)).collect();
        let found = leakage::run(&codes, Some(public));
        let column = table.key().column(name).cloned();
        text += &format!("\n$ comity ope leakage --table staff --column {name} --histogram another-company.csv\n");
        text += &column.map(|column| leakage::text(&column, &found)).unwrap_or_default();
        attacks.extend(found);
    }
    report.attacks = Some(attacks);
    report.print(args.json, &text)
}

/// People who do not exist.
fn staff(count: u32) -> Outcome<Vec<NewRow>> {
    let ty = COLUMNS.map(|column| column.1.parse::<ColumnType>());
    let [salary, grade, birthday] = ty;
    let (salary, grade, birthday) = (salary?, grade?, birthday?);
    let draw = |below: u64| SystemRng.next_u64() % below;
    let row = |number: u32| -> comity_ope::Result<NewRow> {
        let pay = 20_000 + draw(40_000) + draw(40_000);
        let values: [ColumnValue; 3] = [
            salary.parse(&pay.to_string())?,
            grade.parse(&(1 + draw(5) + draw(5)).to_string())?,
            birthday.parse(&format!("{}-{:02}-{:02}", 1955 + draw(50), 1 + draw(12), 1 + draw(28)))?,
        ];
        Ok(NewRow { plain: vec![Some(format!("person {number}"))], secret: values.map(Some).into() })
    };
    Ok((0..count).map(row).collect::<comity_ope::Result<_>>()?)
}
