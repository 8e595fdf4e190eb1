package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.api.NotForApplications;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;

/**
 * Reads and writes tensors in bodies of Spring MVC and {@code RestClient}; see {@link TensorMediaTypes} for the
 * formats.
 *
 * <p>A tensor read from a body need not be closed, and can be used in place by devices with that ability. A written
 * tensor is closed, since the handler returning the tensor cannot do so.
 */
@NotForApplications
public final class TensorHttpMessageConverter extends AbstractHttpMessageConverter<Tensor> {

    private final long maximumBytes;
    private final @Nullable BodyLimits limits;

    /**
     * Creates a converter for HTTP clients, for responses of a server trusted to send in time.
     *
     * @param maximumBytes maximum length of a body
     */
    public TensorHttpMessageConverter(long maximumBytes) {
        this(maximumBytes, null);
    }

    /**
     * Creates a converter.
     *
     * @param maximumBytes maximum length of a body
     * @param limits limits of request bodies; null for none
     */
    public TensorHttpMessageConverter(long maximumBytes, @Nullable BodyLimits limits) {
        super(TensorMediaTypes.ALL.toArray(MediaType[]::new));
        this.maximumBytes = maximumBytes;
        this.limits = limits;
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
        if (limits == null || !RequestScope.isServer(message)) {
            return TensorMediaTypes.readBody(message.getBody(), contents, length, maximumBytes);
        }
        LimitedBody body = limits.receive(message.getBody(), length, maximumBytes, BodyLimits.SIZE)
                .weighing(1);
        RequestScope.closeAtEnd(body);
        return TensorMediaTypes.readBody(body, contents, length, maximumBytes);
    }

    @Override
    protected void writeInternal(Tensor tensor, HttpOutputMessage message) throws IOException {
        MediaType type = TensorMediaTypes.typeOf(tensor, message.getHeaders().getContentType());
        try (Outgoing outgoing = Outgoing.of(tensor, limits, message)) {
            TensorMediaTypes.write(outgoing.tensor(), type, outgoing.to(message));
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
