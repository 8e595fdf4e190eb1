package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.api.NotForApplications;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpOutputMessage;
import org.springframework.http.codec.EncoderHttpMessageWriter;
import org.springframework.http.codec.json.JacksonJsonEncoder;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The counterpart of {@link TensorJsonHttpMessageConverter} for Spring WebFlux. The tensors of a stream are not closed.
 */
@NotForApplications
public final class TensorJsonHttpMessageWriter extends EncoderHttpMessageWriter<Object> {

    private final JsonMapper mapper;
    private final BodyLimits limits;

    /**
     * Creates a writer.
     *
     * @param mapper a mapper with the {@link TensorJsonModule}
     * @param limits limits of requests; tensors are charged until read by clients
     */
    public TensorJsonHttpMessageWriter(JsonMapper mapper, BodyLimits limits) {
        super(new JacksonJsonEncoder(mapper));
        this.mapper = mapper;
        this.limits = limits;
    }

    @Override
    public boolean canWrite(ResolvableType type, @Nullable MediaType mediaType) {
        return type.toClass() == Tensor.class && super.canWrite(type, mediaType);
    }

    @Override
    public Mono<Void> write(
            Publisher<?> bodies,
            ResolvableType type,
            @Nullable MediaType mediaType,
            ReactiveHttpOutputMessage message,
            Map<String, Object> hints) {
        if (!(bodies instanceof Mono<?> body)) {
            return super.write(bodies, type, mediaType, message, hints);
        }
        return body.cast(Tensor.class).flatMap(tensor -> {
            if (message instanceof ServerHttpResponse response) {
                response.getHeaders().setContentType(mediaType == null ? MediaType.APPLICATION_JSON : mediaType);
                return ReactiveAnswer.write(response, tensor, limits, (copy, out) -> writeTo(out, copy));
            }
            return super.write(Mono.just(tensor), type, mediaType, message, hints)
                    .doFinally(_ -> tensor.close());
        });
    }

    private void writeTo(OutputStream out, Tensor tensor) throws IOException {
        try {
            mapper.writeValue(out, tensor);
        } catch (JacksonIOException e) {
            throw e.getCause();
        }
    }
}
