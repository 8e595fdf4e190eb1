package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpOutputMessage;
import org.springframework.http.codec.EncoderHttpMessageWriter;
import org.springframework.http.codec.json.JacksonJsonEncoder;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/**
 * The counterpart of {@link TensorJsonHttpMessageConverter} for Spring WebFlux. The tensors of a stream are not closed.
 */
public final class TensorJsonHttpMessageWriter extends EncoderHttpMessageWriter<Object> {

    /**
     * Creates a writer.
     *
     * @param mapper a mapper with the {@link TensorJsonModule}
     */
    public TensorJsonHttpMessageWriter(JsonMapper mapper) {
        super(new JacksonJsonEncoder(mapper));
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
        return body.flatMap(tensor -> super.write(Mono.just(tensor), type, mediaType, message, hints)
                .doFinally(_ -> ((Tensor) tensor).close()));
    }
}
