package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.core.codec.AbstractDataBufferDecoder;
import org.springframework.core.codec.DecodingException;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.util.MimeType;

/** Tensors in bodies of Spring WebFlux and of {@code WebClient}, as {@link TensorMediaTypes} says. One that is read needs no closing. */
public final class TensorDecoder extends AbstractDataBufferDecoder<Tensor> {

    /**
     * A decoder.
     *
     * @param maximumBytes the most bytes that a body may have
     */
    public TensorDecoder(int maximumBytes) {
        super(TensorMediaTypes.ALL.toArray(MimeType[]::new));
        setMaxInMemorySize(maximumBytes);
    }

    @Override
    public boolean canDecode(ResolvableType type, @Nullable MimeType mimeType) {
        return type.toClass() == Tensor.class
                && mimeType != null
                && TensorMediaTypes.isReadable(org.springframework.http.MediaType.asMediaType(mimeType));
    }

    @Override
    public Tensor decode(
            DataBuffer buffer, ResolvableType type, @Nullable MimeType mimeType, @Nullable Map<String, Object> hints) {
        int length = buffer.readableByteCount();
        try (InputStream in = buffer.asInputStream(true)) {
            return TensorMediaTypes.read(
                    in,
                    org.springframework.http.MediaType.asMediaType(mimeType == null ? TensorMediaTypes.NPY : mimeType),
                    length);
        } catch (IreeException e) {
            throw new DecodingException(e.getMessage(), e);
        } catch (IOException e) {
            throw new DecodingException("the body cannot be read", e);
        }
    }
}
