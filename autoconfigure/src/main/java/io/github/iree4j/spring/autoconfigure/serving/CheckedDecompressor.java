package io.github.iree4j.spring.autoconfigure.serving;

import io.grpc.Codec;
import io.grpc.Decompressor;
import io.grpc.DecompressorRegistry;
import io.grpc.Status;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Decompresses messages of clients. A damaged message is the client's fault, and fails the call with
 * INVALID_ARGUMENT; the transport would answer UNKNOWN without a text.
 */
final class CheckedDecompressor implements Decompressor {

    private final Decompressor decompressor;

    private CheckedDecompressor(Decompressor decompressor) {
        this.decompressor = decompressor;
    }

    /** Returns the encodings of a registry, with messages checked. */
    static DecompressorRegistry checked(DecompressorRegistry registry) {
        DecompressorRegistry checked = registry;
        for (String encoding : registry.getKnownMessageEncodings()) {
            Decompressor each = registry.lookupDecompressor(encoding);
            if (each != null && !each.equals(Codec.Identity.NONE)) { // known to the transport by its identity
                checked = checked.with(
                        new CheckedDecompressor(each),
                        registry.getAdvertisedMessageEncodings().contains(encoding));
            }
        }
        return checked;
    }

    @Override
    public String getMessageEncoding() {
        return decompressor.getMessageEncoding();
    }

    @Override
    public InputStream decompress(InputStream compressed) {
        try {
            return new Checked(decompressor.decompress(compressed));
        } catch (IOException e) {
            throw damaged(e);
        }
    }

    private RuntimeException damaged(IOException cause) {
        return Status.INVALID_ARGUMENT
                .withDescription("the message cannot be decompressed by '%s', its encoding: %s"
                        .formatted(getMessageEncoding(), cause.getMessage()))
                .withCause(cause)
                .asRuntimeException();
    }

    /** A decompressed message. */
    private final class Checked extends FilterInputStream {

        Checked(InputStream in) {
            super(in);
        }

        @Override
        public int read() {
            try {
                return in.read();
            } catch (IOException e) {
                throw damaged(e);
            }
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            try {
                return in.read(target, offset, length);
            } catch (IOException e) {
                throw damaged(e);
            }
        }

        @Override
        public long skip(long bytes) {
            try {
                return in.skip(bytes);
            } catch (IOException e) {
                throw damaged(e);
            }
        }
    }
}
