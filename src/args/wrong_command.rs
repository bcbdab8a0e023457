//! What can be wrong with a command line beyond what clap sees.

use std::error::Error;
use std::net::SocketAddr;

use queens::{Board, Classified, UnitId};

/// What was typed cannot be, however often it is tried.
#[derive(Debug, thiserror::Error)]
pub enum WrongCommand {
    #[error(
        "{0} is no URL of a coordinator: for a run that is not served, use --double-check and --replicas \
         when you start it"
    )]
    NotServed(String),
    #[error("boards beyond {} are extrapolated, not counted: leave out --machines", Board::LARGEST)]
    MachinesForNothing,
    #[error(
        "--watts is given {watts} times for {machines} kinds of --machines: give it once, or once for each"
    )]
    WattsOfOthers { watts: usize, machines: usize },
    #[error("no {card} was measured at n = {board}: leave it out, or estimate a board from {boards}")]
    UnmeasuredBoard { card: &'static str, board: Board, boards: String },
    #[error(
        "other machines can reach {0}: use --keys DIR (diadem keys init makes one), or --insecure to let \
         anybody take part"
    )]
    UnguardedRun(SocketAddr),
    #[error(
        "other machines can reach {0}: use --keys DIR (diadem keys init makes one), --public to show \
         everybody progress and credits only, or --insecure to let anybody see the dashboard"
    )]
    UnguardedDashboard(SocketAddr),
    #[error(
        "tokens would come to the dashboard on {0} unencrypted: use --keys DIR, or --http 127.0.0.1:7228"
    )]
    ReadableTokens(SocketAddr),
    #[error(
        "--listen and --http both use port {0}: give the dashboard another port, as in --http \
         127.0.0.1:7228"
    )]
    OnePort(u16),
    #[error("--gpu measures graphics cards, and --{0} is for the processor: leave one of them out")]
    CardsAndProcessor(&'static str),
    #[error("nobody is known as {0} without keys: use --keys DIR (diadem keys init makes one) beside --own")]
    UnknownOperator(String),
    /// This is refused however often it is asked.
    #[error("{0}")]
    Refused(String),
    #[error("--only chooses rows of a table by constellation: add --by constellation, or leave it out")]
    OnlyOfConstellations,
    #[error("Windows has no --nice: leave it out, and start the command as start /low /b /wait diadem ...")]
    NoNiceness,
    #[error("the plan has no unit {unit}: its {units} units are numbered from 0")]
    UnknownUnit { unit: UnitId, units: u64 },
    #[error("unit {unit} is not of this share, {share} of the plan: name the run directory of its share")]
    OtherShare { unit: UnitId, share: String },
    #[error("the run knows no {what} {name}; it knows {known}")]
    UnknownName { what: &'static str, name: String, known: String },
    #[error("{0}: add --yes to do that, or --dry-run to see this alone")]
    Unconfirmed(String),
    /// A variable that stands for a file holds something else.
    #[error(transparent)]
    Variable(Box<dyn Error + Send + Sync>),
}

impl Classified for WrongCommand {}
