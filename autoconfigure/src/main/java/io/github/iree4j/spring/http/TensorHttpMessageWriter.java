package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.api.NotForApplications;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpOutputMessage;
import org.springframework.http.codec.EncoderHttpMessageWriter;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;

/** Writes a tensor, with the element type and shape in the content type. */
@NotForApplications
public final class TensorHttpMessageWriter extends EncoderHttpMessageWriter<Tensor> {

    private final @Nullable BodyLimits limits;

    /** Creates a writer for HTTP clients. */
    public TensorHttpMessageWriter() {
        this(null);
    }

    /**
     * Creates a writer.
     *
     * @param limits limits of requests; tensors are charged until read by clients; null for none
     */
    public TensorHttpMessageWriter(@Nullable BodyLimits limits) {
        super(new TensorEncoder());
        this.limits = limits;
    }

    @Override
    public Mono<Void> write(
            Publisher<? extends Tensor> tensors,
            ResolvableType type,
            @Nullable MediaType mediaType,
            ReactiveHttpOutputMessage message,
            Map<String, Object> hints) {
        return Mono.from(tensors).flatMap(tensor -> {
            MediaType written = TensorMediaTypes.typeOf(tensor, mediaType);
            message.getHeaders().setContentType(written);
            if (limits != null && message instanceof ServerHttpResponse response) {
                if (!TensorMediaTypes.NPY.isCompatibleWith(written)) {
                    response.getHeaders().setContentLength(tensor.byteSize());
                }
                return ReactiveAnswer.write(
                        response, tensor, limits, (copy, out) -> TensorMediaTypes.write(copy, written, out));
            }
            return super.write(Mono.just(tensor), type, written, message, hints)
                    .doFinally(_ -> tensor.close()); // also without a subscriber
        });
    }
}
