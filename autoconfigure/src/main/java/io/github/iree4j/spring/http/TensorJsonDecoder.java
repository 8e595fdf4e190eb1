package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.api.NotForApplications;
import java.io.InputStream;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.MediaType;
import org.springframework.http.codec.json.JacksonJsonDecoder;
import org.springframework.util.MimeType;
import org.springframework.web.ErrorResponseException;
import reactor.core.publisher.Flux;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The counterpart of {@link TensorJsonHttpMessageConverter} for Spring WebFlux, with the limits of {@link TensorDecoder}. Streams
 * of tensors, and tensors nested in other objects, are left to Spring's decoder.
 */
@NotForApplications
public final class TensorJsonDecoder extends RequestBodyDecoder {

    private final JsonMapper mapper;
    private final JacksonJsonDecoder streams;

    /**
     * Creates a decoder.
     *
     * @param mapper a mapper with the {@link TensorJsonModule}
     * @param maximumBytes maximum size of a body
     * @param limits limits of request bodies, charged until decoded
     */
    public TensorJsonDecoder(JsonMapper mapper, int maximumBytes, BodyLimits limits) {
        super(
                maximumBytes,
                1 + TensorJsonHttpMessageConverter.WEIGHT, // the buffers, too
                limits,
                TensorJsonHttpMessageConverter.TYPES);
        this.mapper = mapper;
        this.streams = new JacksonJsonDecoder(mapper);
    }

    @Override
    public Flux<Tensor> decode(
            Publisher<DataBuffer> buffers,
            ResolvableType type,
            @Nullable MimeType mimeType,
            @Nullable Map<String, Object> hints) {
        return streams.decode(buffers, type, mimeType, hints).cast(Tensor.class);
    }

    @Override
    Tensor read(InputStream in, @Nullable MediaType mediaType, int length) {
        try {
            return mapper.readValue(in, Tensor.class);
        } catch (JacksonException e) {
            if (e.getCause() instanceof ErrorResponseException failure) {
                throw failure;
            }
            throw TensorJsonHttpMessageConverter.invalid(e);
        }
    }
}
