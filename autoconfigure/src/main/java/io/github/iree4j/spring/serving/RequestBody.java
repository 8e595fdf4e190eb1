package io.github.iree4j.spring.serving;

import java.io.IOException;
import java.io.InputStream;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** The body of a request; reading fails when it exceeds the size limit. */
final class RequestBody extends InputStream {

    private static final String PROPERTY = "iree.serving.max-request-size";

    private final InputStream in;
    private final long limit;
    private long count;

    /**
     * Creates a body.
     *
     * @param in the stream to read
     * @param length declared length; negative when unknown
     * @param limit maximum number of bytes
     * @throws ResponseStatusException 413 when the declared length exceeds the limit
     */
    RequestBody(InputStream in, long length, long limit) {
        this.in = in;
        this.limit = length < 0 ? limit : Math.min(length, limit);
        if (length > limit) {
            throw tooLarge("of %d bytes".formatted(length), limit);
        }
    }

    /** The maximum number of bytes left. */
    long remaining() {
        return limit - count;
    }

    private static ResponseStatusException tooLarge(String size, long limit) {
        return new ResponseStatusException(
                HttpStatus.CONTENT_TOO_LARGE,
                "the body %s is larger than %d bytes; send less, or raise '%s'".formatted(size, limit, PROPERTY));
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        // Reads one byte beyond the limit, so that a body of exactly the limit is accepted.
        int read = in.read(target, offset, (int) Math.min(length, remaining() + 1));
        if (read > 0) {
            count += read;
            if (count > limit) {
                throw tooLarge("without a length", limit);
            }
        }
        return read;
    }
}
