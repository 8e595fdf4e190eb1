package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
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
 * Decodes a tensor from a whole body, after the body has arrived, within the {@linkplain BodyLimits limits} of
 * requests. A body that is too large fails with status 413.
 */
abstract class RequestBodyDecoder extends AbstractDataBufferDecoder<Tensor> {

    /** Number of checks for arrived bytes within the maximum time. */
    private static final int LOOKS = 4;

    private final int maximumBytes;
    private final int weight;
    private final @Nullable BodyLimits limits;

    /**
     * Creates a decoder.
     *
     * @param maximumBytes maximum length of a body
     * @param weight memory per byte of a body
     * @param limits limits of request bodies, charged until decoded; null for none
     */
    RequestBodyDecoder(int maximumBytes, int weight, @Nullable BodyLimits limits, List<MediaType> types) {
        super(types.toArray(MimeType[]::new));
        this.maximumBytes = maximumBytes;
        this.weight = weight;
        this.limits = limits;
        setMaxInMemorySize(maximumBytes);
    }

    /** Decodes a body with the given number of bytes. */
    abstract Tensor read(InputStream in, @Nullable MediaType mediaType, int length) throws IOException;

    @Override
    public boolean canDecode(ResolvableType type, @Nullable MimeType mimeType) {
        return type.toClass() == Tensor.class && super.canDecode(type, mimeType);
    }

    @Override
    public final Mono<Tensor> decodeToMono(
            Publisher<DataBuffer> buffers,
            ResolvableType type,
            @Nullable MimeType mimeType,
            @Nullable Map<String, Object> hints) {
        if (limits == null) {
            return decoded(buffers, type, mimeType, hints);
        }
        return Mono.using(
                () -> limits.receive(InputStream.nullInputStream(), -1, maximumBytes, BodyLimits.SIZE)
                        .weighing(weight),
                body -> received(buffers, body, limits, counted -> decoded(counted, type, mimeType, hints)),
                LimitedBody::close);
    }

    /**
     * Limits the time of a body: in total, on arrival of bytes, and while no bytes arrive. The latter limit is an
     * operator behind the decoder, since an operator before the decoder would drop buffers arriving after a
     * cancellation unreleased.
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
    public final Tensor decode(
            DataBuffer buffer, ResolvableType type, @Nullable MimeType mimeType, @Nullable Map<String, Object> hints) {
        int length = buffer.readableByteCount();
        try (InputStream in = buffer.asInputStream(true)) {
            return read(in, mimeType == null ? null : MediaType.asMediaType(mimeType), length);
        } catch (IOException e) {
            throw new DecodingException("the body cannot be read", e);
        }
    }
}
