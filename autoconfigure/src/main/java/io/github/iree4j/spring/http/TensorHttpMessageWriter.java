package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpOutputMessage;
import org.springframework.http.codec.EncoderHttpMessageWriter;
import reactor.core.publisher.Mono;

/** Writes one tensor, with its element type and shape in the content type. */
public final class TensorHttpMessageWriter extends EncoderHttpMessageWriter<Tensor> {

    /** Creates a writer. */
    public TensorHttpMessageWriter() {
        super(new TensorEncoder());
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
            return super.write(Mono.just(tensor), type, written, message, hints)
                    .doFinally(_ -> tensor.close()); // also without a subscriber
        });
    }
}
