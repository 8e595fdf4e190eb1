package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.api.NotForApplications;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.core.codec.AbstractEncoder;
import org.springframework.core.codec.EncodingException;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.MediaType;
import org.springframework.util.MimeType;
import reactor.core.publisher.Flux;

/**
 * Encodes tensors in bodies of Spring WebFlux and {@code WebClient}; see {@link TensorMediaTypes} for the formats.
 * Closes a written tensor, since the handler returning the tensor cannot.
 */
@NotForApplications
public final class TensorEncoder extends AbstractEncoder<Tensor> {

    /** Creates an encoder. */
    public TensorEncoder() {
        super(TensorMediaTypes.ALL.toArray(MimeType[]::new));
    }

    @Override
    public boolean canEncode(ResolvableType type, @Nullable MimeType mimeType) {
        return type.toClass() == Tensor.class
                && (mimeType == null || TensorMediaTypes.isWritable(MediaType.asMediaType(mimeType)));
    }

    @Override
    public Flux<DataBuffer> encode(
            Publisher<? extends Tensor> tensors,
            DataBufferFactory buffers,
            ResolvableType type,
            @Nullable MimeType mimeType,
            @Nullable Map<String, Object> hints) {
        return Flux.from(tensors).map(tensor -> encodeValue(tensor, buffers, type, mimeType, hints));
    }

    @Override
    public DataBuffer encodeValue(
            Tensor tensor,
            DataBufferFactory buffers,
            ResolvableType type,
            @Nullable MimeType mimeType,
            @Nullable Map<String, Object> hints) {
        try (tensor) {
            MediaType written =
                    TensorMediaTypes.typeOf(tensor, mimeType == null ? null : MediaType.asMediaType(mimeType));
            DataBuffer buffer = buffers.allocateBuffer(Math.toIntExact(tensor.byteSize() + 128));
            try (OutputStream out = buffer.asOutputStream()) {
                TensorMediaTypes.write(tensor, written, out);
                return buffer;
            } catch (IOException | RuntimeException e) {
                DataBufferUtils.release(buffer);
                throw new EncodingException("the tensor cannot be written: " + e.getMessage(), e);
            }
        }
    }
}
