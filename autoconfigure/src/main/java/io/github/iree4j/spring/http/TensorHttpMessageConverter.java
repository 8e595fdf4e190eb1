package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;
import org.springframework.web.server.ResponseStatusException;

/**
 * Tensors in bodies of Spring MVC and of {@code RestClient}, as {@link TensorMediaTypes} says.
 *
 * <p>A tensor that is read needs no closing and is used in place by devices that can. One that is written is closed, since whoever returned
 * it cannot.
 */
public final class TensorHttpMessageConverter extends AbstractHttpMessageConverter<Tensor> {

    private final long maximumBytes;

    /**
     * A converter.
     *
     * @param maximumBytes the most bytes that a tensor may take that is read
     */
    public TensorHttpMessageConverter(long maximumBytes) {
        super(TensorMediaTypes.ALL.toArray(MediaType[]::new));
        this.maximumBytes = maximumBytes;
    }

    @Override
    protected boolean supports(Class<?> type) {
        return type == Tensor.class;
    }

    @Override
    protected boolean canRead(@Nullable MediaType type) {
        return TensorMediaTypes.isReadable(type);
    }

    @Override
    protected boolean canWrite(@Nullable MediaType type) {
        return TensorMediaTypes.isWritable(type);
    }

    @Override
    protected Tensor readInternal(Class<? extends Tensor> type, HttpInputMessage message) throws IOException {
        MediaType contents = message.getHeaders().getContentType();
        if (contents == null) {
            throw new IllegalStateException("a message without a content type is not readable");
        }
        long length = message.getHeaders().getContentLength();
        if (length > maximumBytes + (1 << 20)) {
            throw tooLarge("the body of %d bytes is".formatted(length));
        }
        try {
            // Nothing larger than what is said to come, so that nobody makes us take memory for nothing.
            return TensorMediaTypes.read(
                    message.getBody(), contents, length < 0 ? maximumBytes : Math.min(length, maximumBytes));
        } catch (IreeException e) {
            if (e.code() != StatusCode.RESOURCE_EXHAUSTED) {
                throw e;
            }
            if (length >= 0 && length <= maximumBytes) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "the body of %d bytes does not hold what it says: %s".formatted(length, e.getMessage()),
                        e);
            }
            throw tooLarge(e.getMessage() + "; it is");
        }
    }

    private ResponseStatusException tooLarge(String what) {
        return new ResponseStatusException(
                HttpStatus.CONTENT_TOO_LARGE,
                "%s larger than a tensor may be, %d bytes; send less, or raise 'iree.http.max-tensor-size'"
                        .formatted(what, maximumBytes));
    }

    @Override
    protected void writeInternal(Tensor tensor, HttpOutputMessage message) throws IOException {
        try (tensor) {
            MediaType type =
                    TensorMediaTypes.typeOf(tensor, message.getHeaders().getContentType());
            TensorMediaTypes.write(tensor, type, message.getBody());
        }
    }

    @Override
    protected void addDefaultHeaders(HttpHeaders headers, Tensor tensor, @Nullable MediaType type) throws IOException {
        super.addDefaultHeaders(headers, tensor, TensorMediaTypes.typeOf(tensor, type));
    }

    @Override
    protected @Nullable Long getContentLength(Tensor tensor, @Nullable MediaType type) {
        return type != null && !TensorMediaTypes.NPY.isCompatibleWith(type) ? tensor.byteSize() : null;
    }
}
