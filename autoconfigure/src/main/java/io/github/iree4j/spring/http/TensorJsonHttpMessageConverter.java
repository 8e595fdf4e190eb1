package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes a tensor that is the whole body as JSON, in the format of {@link TensorJsonModule}, and closes it, since the
 * handler that returned it cannot. Reading, and tensors nested in other objects, are left to the general JSON
 * converter.
 */
public final class TensorJsonHttpMessageConverter extends AbstractHttpMessageConverter<Tensor> {

    private final JsonMapper mapper;

    /**
     * Creates a converter.
     *
     * @param mapper a mapper with the {@link TensorJsonModule}
     */
    public TensorJsonHttpMessageConverter(JsonMapper mapper) {
        super(MediaType.APPLICATION_JSON, new MediaType("application", "*+json"));
        this.mapper = mapper;
    }

    @Override
    protected boolean supports(Class<?> type) {
        return type == Tensor.class;
    }

    @Override
    public boolean canRead(Class<?> type, @Nullable MediaType mediaType) {
        return false;
    }

    /** Never called, see {@link #canRead}. */
    @Override
    protected Tensor readInternal(Class<? extends Tensor> type, HttpInputMessage message) {
        throw new UnsupportedOperationException("only writes");
    }

    @Override
    protected void writeInternal(Tensor tensor, HttpOutputMessage message) throws IOException {
        try (tensor) {
            mapper.writeValue(message.getBody(), tensor);
        }
    }
}
