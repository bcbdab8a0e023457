//! What can be wrong with a command line beyond what clap sees.

use std::error::Error;
use std::net::SocketAddr;

use queens::{Board, Classified};

/// What was typed cannot be, however often it is tried.
#[derive(Debug, thiserror::Error)]
pub enum WrongCommand {
    #[error(
        "{0} is no URL of a coordinator: a run that is not served is told by --double-check and --replicas when it is \
         started"
    )]
    NotServed(String),
    #[error(
        "boards beyond {} are extrapolated, not counted, and machines are none for them: leave --machines out",
        Board::LARGEST
    )]
    MachinesForNothing,
    #[error(
        "{0} can be reached from other machines: say --keys DIR (diadem keys init makes one), or --insecure if everybody \
         who can reach it may take part"
    )]
    UnguardedRun(SocketAddr),
    #[error(
        "{0} can be reached from other machines: say --keys DIR (diadem keys init makes one, with a status token), or \
         --insecure if everybody who can reach it may see the dashboard"
    )]
    UnguardedDashboard(SocketAddr),
    #[error(
        "tokens would come to the dashboard on {0} in the clear: say --keys DIR, or --http 127.0.0.1:7228"
    )]
    ReadableTokens(SocketAddr),
    #[error(
        "--listen and --http both want port {0}: the dashboard wants a port of its own, as in --http 127.0.0.1:7228"
    )]
    OnePort(u16),
    #[error("--gpu measures graphics cards, and --{0} is for the processor: leave one of them out")]
    CardsAndProcessor(&'static str),
    /// The coordinator would refuse this however often it is asked.
    #[error("{0}")]
    Refused(String),
    #[error("{0}: add --yes to do that, or --dry-run to see this alone")]
    Unconfirmed(String),
    /// A variable that stands for a file holds something else.
    #[error(transparent)]
    Variable(Box<dyn Error + Send + Sync>),
}

impl Classified for WrongCommand {}
