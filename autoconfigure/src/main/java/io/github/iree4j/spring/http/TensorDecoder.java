package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.api.NotForApplications;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.util.MimeType;

/**
 * Decodes tensors in bodies of Spring WebFlux and {@code WebClient}; see {@link TensorMediaTypes} for the formats. A
 * decoded tensor need not be closed. An invalid body fails as in Spring MVC: with an
 * {@link io.github.iree4j.status.IreeException}, or with status 413 when too large.
 */
@NotForApplications
public final class TensorDecoder extends RequestBodyDecoder {

    private static final int WEIGHT = 2; // the buffers and the tensor

    private final int maximumBytes;

    /**
     * Creates a decoder for HTTP clients, for responses of a server trusted to send in time.
     *
     * @param maximumBytes maximum length of a body
     */
    public TensorDecoder(int maximumBytes) {
        this(maximumBytes, null);
    }

    /**
     * Creates a decoder.
     *
     * @param maximumBytes maximum length of a body
     * @param limits limits of request bodies, charged until decoded; null for none
     */
    public TensorDecoder(int maximumBytes, @Nullable BodyLimits limits) {
        super(maximumBytes, WEIGHT, limits, TensorMediaTypes.ALL);
        this.maximumBytes = maximumBytes;
    }

    @Override
    public boolean canDecode(ResolvableType type, @Nullable MimeType mimeType) {
        return type.toClass() == Tensor.class
                && mimeType != null
                && TensorMediaTypes.isReadable(MediaType.asMediaType(mimeType));
    }

    @Override
    Tensor read(InputStream in, @Nullable MediaType mediaType, int length) throws IOException {
        return TensorMediaTypes.readBody(
                in, Objects.requireNonNullElse(mediaType, TensorMediaTypes.NPY), length, maximumBytes);
    }
}
