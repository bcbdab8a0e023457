//! The arguments of the commands about what is on record: verified, exported, joined.

use std::path::PathBuf;

use clap::builder::PathBufValueParser;
use clap::{Arg, ArgGroup, Args};
use domain::{Owner, Target, is_reason, quoted};
use queens::Constellation;
use queens::kernel::Method;
use queens::plan::{Border, Family};
use records::export::{By, TableFormat};
use records::verify::SampleSize;

use super::external::ExternalArgs;
use super::kernel::KernelArgs;
use super::unit_span::UnitSpan;
use super::value::{Auto, GROUPS, METHODS, ThreadsArgs, ValueError, auto, choice, whole};

/// Check a run from its ledger and recount a sample.
///
/// Checks in this order, up to the first failure: chain and CRCs of the ledger; one standing count a unit;
/// identities among the sums; random solutions, each counted once by the plan; a certificate and an exported
/// table, if given; the symmetric counts, by a second algorithm; a random sample of units, mirrored and by
/// another kernel than the first count; the published value.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("evidence").args(["run", "certificate"]).required(true).multiple(true))]
#[command(after_help = "\
Examples:
  diadem verify ./diadem-16                          50 units counted again
  diadem verify ./diadem-16 --recount all --json
      every one, the report as JSON
  diadem verify ./diadem-28 --recount 500 --method meet
      a larger sample, by the faster method
  diadem verify ./diadem-16 --recount 0
      only what the ledger itself shows
  diadem verify ./diadem-16 --external 'python3 tools/external/count.py'
      by another program
  diadem verify ./diadem-16 --export diadem-16.csv   and a published table
  diadem verify ./diadem-16 --heads heads.txt
      and that nothing was rewritten since
  diadem verify ./diadem-16 --certificate 16.json
      and that the certificate says what the ledger says")]
#[command(mut_args(of_run))]
pub struct VerifyArgs {
    /// Run directory.
    ///
    /// May be left out with --certificate, whose signature alone is checked then.
    #[arg(value_name = "DIR")]
    pub run: Option<PathBuf>,
    /// Units to count again, or all.
    ///
    /// They are chosen at random.
    #[arg(long, value_name = "K", default_value = "50", value_parser = sample, requires = "run")]
    pub recount: SampleSize,
    /// Seed of the sample [default: random, printed].
    #[arg(long, value_name = "SEED", value_parser = whole(0..=u64::MAX), allow_negative_numbers = true, requires = "run")]
    pub seed: Option<u64>,
    /// Method of the recount: auto, meet, search.
    ///
    /// auto takes for each unit the method that did not count it before [default: auto].
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true, value_parser = auto::<Method>(METHODS), hide_possible_values = true, requires = "run")]
    pub method: Auto<Method>,
    #[command(flatten)]
    pub external: ExternalArgs,
    #[command(flatten)]
    pub threads: ThreadsArgs,
    /// Table of diadem export to compare.
    ///
    /// It must agree with the ledger.
    #[arg(long, value_name = "FILE", requires = "run")]
    pub export: Option<PathBuf>,
    /// Lines of diadem head to compare.
    ///
    /// Each must be in the chain of the ledger.
    #[arg(long, value_name = "FILE", requires = "run")]
    pub heads: Option<PathBuf>,
    /// Certificate of diadem certify to check.
    ///
    /// Its signature must be valid, and it must agree with the ledger.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Public key that must have signed it.
    ///
    /// 64 hexadecimal digits [default: the key that the certificate names].
    #[arg(long, value_name = "KEY", requires = "certificate", value_parser = public_key)]
    pub signer: Option<String>,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// An option about the counts of a run, refused without a run.
fn of_run(option: Arg) -> Arg {
    if option.get_id() == "external" { option.requires("run").conflicts_with("method") } else { option }
}

/// A public key, in small letters.
fn public_key(text: &str) -> Result<String, ValueError> {
    let is_key = text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit());
    is_key.then(|| text.to_lowercase()).ok_or_else(|| ValueError::new(text, "a key of 64 hexadecimal digits"))
}

/// A number of units, or all.
fn sample(text: &str) -> Result<SampleSize, ValueError> {
    match text.parse() {
        _ if text == "all" => Ok(SampleSize::All),
        Ok(units) => Ok(SampleSize::Units(units)),
        Err(_) => Err(ValueError::new(text, "a number or \"all\"")),
    }
}

/// Write the counts of a run as a table.
///
/// The table depends on the plan and the counts alone, not on the contributors. Its last line is the BLAKE3
/// hash of all lines before. diadem verify --export compares it with the ledger.
///
/// Plans for the method meet count many constellations together. Then --by constellation counts them again one by one, and compares
/// the sum of each family with the ledger. It prints how long that takes before it starts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem export ./diadem-16 --csv
      the count of every unit, on stdout
  diadem export ./diadem-16 --csv --by family -o 16.csv
      sums by top and bottom queen
  diadem export ./diadem-16 --jsonl --by constellation -o 16.jsonl
  diadem export ./diadem-20 --csv --by constellation --only 0,2
      only the constellations with top 0 and bottom 2, counted again")]
pub struct ExportArgs {
    /// Run directory.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    #[command(flatten)]
    pub format: ExportFormat,
    /// Rows: unit, family, constellation.
    #[arg(long, value_name = "GROUP", default_value = "unit", value_parser = choice::<By>(GROUPS), hide_possible_values = true)]
    pub by: By,
    /// Only this family or constellation; may be repeated.
    ///
    /// With --by constellation. A family is TOP,BOTTOM and a constellation TOP,BOTTOM,LEFT,RIGHT, as in the tables.
    #[arg(long, value_name = "PLACES", value_parser = border)]
    pub only: Vec<Border>,
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Output file [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The places of the queens of a family or a constellation.
fn border(text: &str) -> Result<Border, ValueError> {
    let places: Result<Vec<u8>, _> = text.split(',').map(str::parse).collect();
    match *places.unwrap_or_default() {
        [top, bottom] => Ok(Border::Family(Family { top, bottom })),
        [top, bottom, left, right] => Ok(Border::Constellation(Constellation { top, bottom, left, right })),
        _ => Err(ValueError::new(text, "TOP,BOTTOM or TOP,BOTTOM,LEFT,RIGHT, as in 0,2 or 0,2,0,4")),
    }
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct ExportFormat {
    /// Write comma-separated values.
    #[arg(long)]
    csv: bool,
    /// Write one JSON object per line.
    #[arg(long)]
    jsonl: bool,
}

impl ExportFormat {
    /// The requested format.
    pub fn format(&self) -> TableFormat {
        if self.jsonl { TableFormat::JsonLines } else { TableFormat::Csv }
    }
}

/// Join shards, or other runs of one plan.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  diadem merge ./diadem-20 ./shard-1 ./shard-2 ./shard-3")]
pub struct MergeArgs {
    /// Run directory to make.
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// Run directories to join.
    #[arg(value_name = "IN", required = true)]
    pub parts: Vec<PathBuf>,
}

/// Take back counts, so that their units are counted again.
///
/// The reason stands in the ledger.
/// For a machine or an owner, all counts that no other machine has confirmed are retracted, and it gets no
/// more leases. For more than one unit, the command first prints how much it takes back. Then it asks on a
/// terminal; elsewhere it needs --yes. On a served run the request goes to its coordinator and requires the admin token.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("place").args(["run", "coordinator"]).required(true),
    override_usage = "\
diadem retract [OPTIONS] --reason <TEXT>
           <--unit <UNIT>|--machine <MACHINE>|--owner <OWNER>>
           <DIR|--coordinator <URL>>",
    after_help = "\
Examples:
  diadem retract ./diadem-20 --unit 17 --unit 99 \\
     --reason \"found wrong by diadem verify\"
  diadem retract ./diadem-20 --machine rack-3 --reason \"bad memory\" --dry-run
      what that would take back
  diadem retract ./diadem-20 --machine ada/rack-3 --reason \"bad memory\"
      a machine of the owner ada
  diadem retract ./diadem-20 --owner mallory --reason \"key was stolen\"
  diadem retract ./diadem-20 --machine rack-3 --readmit --reason \"new memory\"
      it may count again
  diadem retract --coordinator https://10.0.0.7:7227 --keys keys/admin \\
     --unit 17 --reason \"found wrong by diadem verify\"

Environment: DIADEM_ADMIN_TOKEN stands for admin.token, DIADEM_COORDINATOR for the address."
)]
pub struct RetractArgs {
    /// Run directory, or coordinator URL.
    ///
    /// The URL of the coordinator that serves the run may also be given by --coordinator.
    #[arg(value_name = "DIR|URL", value_parser = PathBufValueParser::new())]
    run: Option<PathBuf>,
    /// Coordinator URL of a served run.
    ///
    /// Of several, the coordinator of the highest term is used. @FILE stands for the addresses in a file.
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    coordinator: Vec<String>,
    /// Folder with ca.pem and admin.token.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Believe the machine or owner again.
    ///
    /// It may count from now on. Units that were taken back are counted again.
    #[arg(long, conflicts_with = "unit")]
    pub readmit: bool,
    /// Only print how much would be taken back.
    #[arg(long)]
    pub dry_run: bool,
    /// Take back more than one unit without asking.
    #[arg(long, conflicts_with = "dry_run")]
    pub yes: bool,
    /// Reason, recorded in the ledger.
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub reason: String,
}

/// The run in which counts are retracted.
#[derive(Debug)]
pub enum RetractIn {
    /// In a run directory.
    Directory(PathBuf),
    /// Served by the coordinator at one of these addresses.
    Served(Vec<String>),
}

impl RetractArgs {
    /// The run directory or the coordinator, from the argument or the option.
    pub fn place(&self) -> RetractIn {
        let Some(run) = &self.run else { return RetractIn::Served(self.coordinator.clone()) };
        match run.to_str().filter(|run| run.contains("://")) {
            Some(addresses) => RetractIn::Served(addresses.split(',').map(str::to_owned).collect()),
            None => RetractIn::Directory(run.clone()),
        }
    }
}

/// The counts to retract.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct TargetArgs {
    /// Unit, or range; may be repeated.
    ///
    /// A range is 100-403, or 100-403/3 for every third unit.
    #[arg(long, value_name = "UNIT", allow_negative_numbers = true)]
    unit: Vec<UnitSpan>,
    /// Machine, as NAME or OWNER/NAME.
    ///
    /// NAME alone will do where no other owner has a machine of that name.
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// Owner, or - for workers without credentials.
    ///
    /// All machines of the owner are meant.
    #[arg(long, value_name = "OWNER", value_parser = owner)]
    owner: Option<String>,
}

impl TargetArgs {
    /// Whether a machine or an owner was named, not units.
    pub fn is_somebody(&self) -> bool {
        self.unit.is_empty()
    }

    /// The machine or the owner, as an option.
    pub fn somebody(&self) -> Option<String> {
        let machine = self.machine.as_ref().map(|machine| format!("--machine {}", quoted(machine)));
        machine.or_else(|| {
            self.owner.as_ref().map(|owner| format!("--owner {}", quoted(Owner::new(owner).typed())))
        })
    }

    /// Whether several units were named.
    pub fn names_several_units(&self) -> bool {
        self.unit.iter().copied().flat_map(UnitSpan::units).nth(1).is_some()
    }

    /// The given target (clap requires exactly one), or its readmission.
    pub fn target(&self, readmit: bool) -> Target {
        if let Some(owner) = &self.owner {
            let owner = owner.clone();
            return if readmit { Target::Admission { owner, machine: None } } else { Target::Owner(owner) };
        }
        let Some(machine) = &self.machine else {
            return Target::Units(self.unit.iter().copied().flat_map(UnitSpan::units).collect());
        };
        let (owner, machine) = super::value::machine(machine);
        if readmit {
            return Target::Admission { owner, machine: Some(machine) };
        }
        Target::Machine { owner, machine }
    }
}

/// An owner that is named, or the one without a name. Nobody means that one by a variable that is empty.
fn owner(text: &str) -> Result<String, ValueError> {
    match text {
        "" => Err(ValueError::new(text, "an owner, or - for workers without credentials")),
        "-" => Ok(String::new()),
        name => Ok(name.to_owned()),
    }
}

pub fn reason(text: &str) -> Result<String, ValueError> {
    if is_reason(text) {
        return Ok(text.to_owned());
    }
    Err(ValueError::new(text, "a reason of 1 to 1000 bytes of plain text"))
}
