package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.api.NotForApplications;
import java.io.IOException;
import java.util.List;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.ErrorResponseException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads and writes a tensor as a whole JSON body, in the format of {@link TensorJsonModule}. A written tensor is
 * closed, since the handler returning the tensor cannot do so. Tensors nested in other objects are left to the general
 * JSON converter.
 */
@NotForApplications
public final class TensorJsonHttpMessageConverter extends AbstractHttpMessageConverter<Tensor> {

    /** Memory per byte of JSON: an element of 8 bytes, kept twice, takes at least two characters. */
    static final int WEIGHT = 8;

    static final List<MediaType> TYPES = List.of(MediaType.APPLICATION_JSON, new MediaType("application", "*+json"));

    private final JsonMapper mapper;
    private final long maximumBytes;
    private final BodyLimits limits;

    /**
     * Creates a converter.
     *
     * @param mapper a mapper with the {@link TensorJsonModule}
     * @param maximumBytes maximum size of a body
     * @param limits limits of bodies of requests
     */
    public TensorJsonHttpMessageConverter(JsonMapper mapper, long maximumBytes, BodyLimits limits) {
        super(TYPES.toArray(MediaType[]::new));
        this.mapper = mapper;
        this.maximumBytes = maximumBytes;
        this.limits = limits;
    }

    @Override
    protected boolean supports(Class<?> type) {
        return type == Tensor.class;
    }

    @Override
    protected Tensor readInternal(Class<? extends Tensor> type, HttpInputMessage message) throws IOException {
        if (!RequestScope.isServer(message)) {
            try {
                return mapper.readValue(message.getBody(), Tensor.class);
            } catch (JacksonException e) {
                throw new HttpMessageNotReadableException(
                        "not a tensor in JSON: " + e.getOriginalMessage(), e, message);
            }
        }
        try (LimitedBody body = limits.receive(
                        message.getBody(), message.getHeaders().getContentLength(), maximumBytes, BodyLimits.SIZE)
                .weighing(WEIGHT)) {
            return mapper.readValue(body, Tensor.class);
        } catch (JacksonIOException e) {
            throw e.getCause(); // of the connection
        } catch (JacksonException e) {
            if (e.getCause() instanceof ErrorResponseException failure) {
                throw failure;
            }
            throw invalid(e);
        }
    }

    /** Reports the reason to the client, since Spring's own failure to read a message would not. */
    static RefusedBody invalid(JacksonException failure) {
        String reason = failure instanceof TensorJsonModule.NotATensor ? failure.getOriginalMessage() : "no JSON";
        TokenStreamLocation location = failure.getLocation();
        String place = location == null || location.getLineNr() < 0
                ? ""
                : " (line %d, column %d)".formatted(location.getLineNr(), location.getColumnNr());
        return new RefusedBody(
                HttpStatus.BAD_REQUEST, "the body is not a tensor in JSON: %s%s".formatted(reason, place), failure);
    }

    @Override
    protected void writeInternal(Tensor tensor, HttpOutputMessage message) throws IOException {
        try (Outgoing outgoing = Outgoing.of(tensor, limits, message)) {
            mapper.writeValue(outgoing.to(message), outgoing.tensor());
        } catch (JacksonIOException e) {
            throw e.getCause();
        }
    }
}
