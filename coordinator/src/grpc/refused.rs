//! Errors of the keeper as status codes of gRPC.

use tonic::Status;

use crate::CallError;
use crate::core::Refusal;

/// The one place where an error of the keeper becomes a gRPC status.
pub fn refused(error: CallError) -> Status {
    let text = error.to_string();
    match error {
        CallError::Refused(Refusal::UnknownWorker(_)) => Status::not_found(text),
        CallError::Refused(Refusal::TooManyWorkers(_)) => Status::resource_exhausted(text),
        CallError::Refused(_)
        | CallError::Nothing(_)
        | CallError::Policy(_)
        | CallError::NoWorker(_)
        | CallError::Ended => Status::failed_precondition(text),
        CallError::NotRecorded(_)
        | CallError::OtherCoordinator(_)
        | CallError::Withheld(_)
        | CallError::Closed => Status::unavailable(text),
    }
}
