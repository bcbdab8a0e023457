//! Reads requests strictly: one with fields that this release does not know is refused, rather than understood in
//! part. Replies are read as protobuf usually is, so that a worker can be older than its coordinator.

use std::marker::PhantomData;

use prost::bytes::Buf;
use prost::encoding::{WireType, decode_key, decode_varint};
use prost::{DecodeError, Message};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::{ProstCodec, ProstEncoder};

/// Maximum number of items in a message, in one field or in all fields. They are counted before decoding, because the
/// smallest items take fifty times as much memory as on the wire.
const MAX_ITEMS: usize = 100_100;

/// The codec of the generated server: sends `T`, reads `U` strictly.
#[derive(Clone, Debug)]
pub struct StrictCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for StrictCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for StrictCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = StrictDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstCodec::<T, U>::default().encoder()
    }

    fn decoder(&mut self) -> Self::Decoder {
        StrictDecoder(PhantomData)
    }
}

/// The decoder of a [`StrictCodec`].
#[derive(Clone, Debug)]
pub struct StrictDecoder<U>(PhantomData<U>);

impl<U: Message + Default> Decoder for StrictDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let bytes = buffer.remaining();
        let things = things(buffer.chunk()).map_err(|error| malformed(&error))?;
        if things > MAX_ITEMS {
            return Err(Status::invalid_argument(
                "the request names more than 100000 units, or has a text as long",
            ));
        }
        let message = U::decode(buffer).map_err(|error| malformed(&error))?;
        // Decoding drops unknown fields, so encoding again takes fewer bytes.
        if message.encoded_len() == bytes {
            return Ok(Some(message));
        }
        Err(Status::invalid_argument(
            "the request has fields that this release does not know: use the coordinator's release of diadem",
        ))
    }
}

fn malformed(error: &DecodeError) -> Status {
    Status::invalid_argument(format!("the request is malformed: {error}"))
}

/// The larger of two numbers: the fields of a message, and the numbers in one field (each ends in a byte whose high bit
/// is zero).
fn things(mut message: &[u8]) -> Result<usize, DecodeError> {
    let (mut fields, mut most) = (0, 0);
    while message.has_remaining() {
        fields += 1;
        let (_, kind) = decode_key(&mut message)?;
        let bytes = match kind {
            WireType::Varint => {
                decode_varint(&mut message)?;
                0
            }
            WireType::ThirtyTwoBit => 4,
            WireType::SixtyFourBit => 8,
            WireType::LengthDelimited => decode_varint(&mut message)?,
            // Groups: the contract does not use them, and prost refuses them.
            WireType::StartGroup | WireType::EndGroup => break,
        };
        let length = usize::try_from(bytes).unwrap_or(usize::MAX).min(message.len());
        let (content, rest) = message.split_at(length);
        most = most.max(content.iter().filter(|byte| **byte < 0x80).count());
        message = rest;
    }
    Ok(most.max(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1;

    #[test]
    fn things_are_counted_before_memory_is_given_to_them() {
        let none = v1::StatusRequest {};
        assert_eq!(things(&none.encode_to_vec()).unwrap(), 0);
        let empty_counts = v1::ReportRequest { worker: 1, counts: vec![v1::UnitCount::default(); 70_000] };
        assert_eq!(things(&empty_counts.encode_to_vec()).unwrap(), 70_001);
        let held = v1::RegisterRequest { held: vec![0; 200_000], ..v1::RegisterRequest::default() };
        assert_eq!(things(&held.encode_to_vec()).unwrap(), 200_000);
        let wide = v1::RegisterRequest { held: vec![u64::MAX; 5000], ..v1::RegisterRequest::default() };
        assert_eq!(things(&wide.encode_to_vec()).unwrap(), 5000);
    }

    #[test]
    fn truncated_message_is_counted_without_panic() {
        let whole =
            v1::ReportRequest { worker: 300, counts: vec![v1::UnitCount::default(); 3] }.encode_to_vec();
        for end in 0..whole.len() {
            things(&whole[..end]).ok();
        }
        for byte in 0..=u8::MAX {
            things(&[byte; 40]).ok();
        }
    }
}
