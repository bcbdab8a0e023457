//! Reads requests strictly: one with fields that this release does not know is refused, rather than understood in
//! part. Replies are read as protobuf usually is, so that a worker can be older than its coordinator.

use std::marker::PhantomData;

use prost::Message;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::{ProstCodec, ProstEncoder};

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
        let bytes = prost::bytes::Buf::remaining(buffer);
        let message = U::decode(buffer)
            .map_err(|error| Status::invalid_argument(format!("the request is malformed: {error}")))?;
        // Unknown fields are dropped in reading; what is known takes fewer bytes then.
        if message.encoded_len() == bytes {
            return Ok(Some(message));
        }
        Err(Status::invalid_argument(
            "the request has fields that this release does not know: use the coordinator's release of diadem",
        ))
    }
}
