package io.github.iree4j.sample;

import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.LimitedBody;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Type;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdviceAdapter;

/**
 * Limits the bodies of this application's own endpoints: as Java objects, the bodies are many times the size. The
 * starter limits the bodies of the protocol and of tensors.
 */
@RestControllerAdvice
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
final class SmallBodies extends RequestBodyAdviceAdapter {

    private static final long DIGITS = 512 << 10;
    private static final long MODELS = 1 << 20;

    /** Memory of the objects made from a byte of JSON, such as a node of a tree for two characters. */
    private static final int WEIGHT = 32;

    private final BodyLimits limits;

    SmallBodies(BodyLimits limits) {
        this.limits = limits;
    }

    @Override
    public boolean supports(MethodParameter parameter, Type type, Class<? extends HttpMessageConverter<?>> converter) {
        Class<?> controller = parameter.getContainingClass();
        return controller == DigitsController.class || controller == ModelsController.class;
    }

    @Override
    public HttpInputMessage beforeBodyRead(
            HttpInputMessage message,
            MethodParameter parameter,
            Type type,
            Class<? extends HttpMessageConverter<?>> converter)
            throws IOException {
        boolean digits = parameter.getContainingClass() == DigitsController.class;
        LimitedBody body = limits.receive(
                        message.getBody(), message.getHeaders().getContentLength(), digits ? DIGITS : MODELS, null)
                .weighing(WEIGHT);
        RequestContextHolder.currentRequestAttributes()
                .registerDestructionCallback("sample.body", body::close, RequestAttributes.SCOPE_REQUEST);
        return new Limited(message.getHeaders(), body);
    }

    private record Limited(HttpHeaders headers, InputStream body) implements HttpInputMessage {
        @Override
        public InputStream getBody() {
            return body;
        }

        @Override
        public HttpHeaders getHeaders() {
            return headers;
        }
    }
}
