package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.core.codec.AbstractDataBufferDecoder;
import org.springframework.core.codec.DecodingException;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.MediaType;
import org.springframework.util.MimeType;
import reactor.core.publisher.Mono;

/**
 * Decodes tensors in bodies of Spring WebFlux and {@code WebClient}; see {@link TensorMediaTypes} for the formats. A
 * decoded tensor need not be closed. An invalid body fails as in Spring MVC: with an {@link
 * io.github.iree4j.status.IreeException}, or with status 413 when it is too large.
 */
public final class TensorDecoder extends AbstractDataBufferDecoder<Tensor> {

    private final int maximumBytes;

    /**
     * Creates a decoder.
     *
     * @param maximumBytes maximum size of a tensor that is read
     */
    public TensorDecoder(int maximumBytes) {
        super(TensorMediaTypes.ALL.toArray(MimeType[]::new));
        this.maximumBytes = maximumBytes;
        setMaxInMemorySize((int) Math.min(Integer.MAX_VALUE, (long) maximumBytes + TensorMediaTypes.BESIDES));
    }

    @Override
    public boolean canDecode(ResolvableType type, @Nullable MimeType mimeType) {
        return type.toClass() == Tensor.class
                && mimeType != null
                && TensorMediaTypes.isReadable(MediaType.asMediaType(mimeType));
    }

    @Override
    public Mono<Tensor> decodeToMono(
            Publisher<DataBuffer> buffers,
            ResolvableType type,
            @Nullable MimeType mimeType,
            @Nullable Map<String, Object> hints) {
        return super.decodeToMono(buffers, type, mimeType, hints)
                .onErrorMap(
                        DataBufferLimitException.class, _ -> TensorMediaTypes.tooLarge("the body is", maximumBytes));
    }

    @Override
    public Tensor decode(
            DataBuffer buffer, ResolvableType type, @Nullable MimeType mimeType, @Nullable Map<String, Object> hints) {
        try (InputStream in = buffer.asInputStream(true)) {
            return TensorMediaTypes.readBody(
                    in,
                    mimeType == null ? TensorMediaTypes.NPY : MediaType.asMediaType(mimeType),
                    buffer.readableByteCount(),
                    maximumBytes);
        } catch (IOException e) {
            throw new DecodingException("the body cannot be read", e);
        }
    }
}
