package io.github.iree4j.spring.serving;

import java.io.IOException;
import java.io.InputStream;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** The body of a request, which ends with a refusal when it is larger than this server takes. */
final class RequestBody extends InputStream {

    private static final String PROPERTY = "iree.serving.max-request-size";

    private final InputStream in;
    private final long limit;
    private long count;

    /**
     * A body.
     *
     * @param in where it comes from
     * @param length how long the client says it is; negative when it does not
     * @param limit the most bytes to take
     * @throws ResponseStatusException 413 when it says more than that
     */
    RequestBody(InputStream in, long length, long limit) {
        this.in = in;
        this.limit = length < 0 ? limit : Math.min(length, limit);
        if (length > limit) {
            throw tooLarge("of %d bytes".formatted(length), limit);
        }
    }

    /** The most bytes that can still come. */
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
        // One byte beyond the limit is looked for, so that a body of just the limit is not refused.
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
