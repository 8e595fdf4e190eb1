package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.core.codec.AbstractDataBufferDecoder;
import org.springframework.core.codec.DecodingException;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.MediaType;
import org.springframework.util.MimeType;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Decodes tensors in bodies of Spring WebFlux and {@code WebClient}; see {@link TensorMediaTypes} for the formats. A
 * decoded tensor need not be closed. An invalid body fails as in Spring MVC: with an {@link
 * io.github.iree4j.status.IreeException}, or with status 413 when it is too large.
 */
public final class TensorDecoder extends AbstractDataBufferDecoder<Tensor> {

    /** How often it is looked whether something has arrived, in the maximum time. */
    private static final int LOOKS = 4;

    private final int maximumBytes;
    private final @Nullable BodyLimits limits;

    /**
     * Creates a decoder of a client, for responses of a server that it trusts to send them in time.
     *
     * @param maximumBytes maximum size of a tensor that is read
     */
    public TensorDecoder(int maximumBytes) {
        this(maximumBytes, null);
    }

    /**
     * Creates a decoder.
     *
     * @param maximumBytes maximum size of a tensor that is read
     * @param limits limits of bodies of requests, which are charged until they are decoded; null for none
     */
    public TensorDecoder(int maximumBytes, @Nullable BodyLimits limits) {
        super(TensorMediaTypes.ALL.toArray(MimeType[]::new));
        this.maximumBytes = maximumBytes;
        this.limits = limits;
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
        if (limits == null) {
            return decoded(buffers, type, mimeType, hints);
        }
        return Mono.using(
                () -> limits.receive(
                                InputStream.nullInputStream(),
                                -1,
                                maximumBytes + (long) TensorMediaTypes.BESIDES,
                                TensorMediaTypes.MAXIMUM)
                        .weighing(2), // the buffers and the tensor
                body -> received(buffers, body, limits, counted -> decoded(counted, type, mimeType, hints)),
                LimitedBody::close);
    }

    /**
     * Limits the time of a body: in all, when something arrives, and while nothing does. The second is an operator behind
     * the decoder, since one before it would drop buffers that arrive after a cancellation unreleased.
     */
    private static Mono<Tensor> received(
            Publisher<DataBuffer> buffers,
            LimitedBody body,
            BodyLimits limits,
            Function<Flux<DataBuffer>, Mono<Tensor>> decoder) {
        AtomicLong last = new AtomicLong(limits.now());
        Flux<DataBuffer> counted = Flux.from(buffers).doOnNext(buffer -> {
            last.setRelease(limits.now());
            try {
                body.received(buffer.readableByteCount());
            } catch (RuntimeException e) {
                DataBufferUtils.release(buffer);
                throw e;
            }
        });
        Mono<Long> silence = Flux.interval(limits.timeout().dividedBy(LOOKS))
                .filter(_ ->
                        limits.now() - last.getAcquire() >= limits.timeout().toNanos())
                .next();
        return decoder.apply(counted).timeout(silence).onErrorMap(TimeoutException.class, body::tooSlow);
    }

    private Mono<Tensor> decoded(
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
