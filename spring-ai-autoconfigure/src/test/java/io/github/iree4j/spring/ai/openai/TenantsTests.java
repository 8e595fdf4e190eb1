package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.generation.GenerationRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** Whose requests take turns: a filter authenticates the caller that a header names. */
@TestPropertySource(properties = "iree.openai.tenant=principal")
@Import({TenantsTests.Servlets.class, TenantsTests.Reactive.class})
class TenantsTests extends OpenAiServer {

    private String tenant(String path, String body, @Nullable String caller) throws Exception {
        script.answer("x");
        HttpRequest.Builder request = to(path).POST(BodyPublishers.ofString(with(body, "\"user\": \"anybody\"")));
        if (caller != null) {
            request.header("Caller", caller);
        }
        assertThat(send(request).statusCode()).isEqualTo(200);
        assertThat(script.requests()).hasSize(1);
        GenerationRequest submitted = script.requests().getFirst();
        return submitted.tenant();
    }

    @Test
    void theTenantIsThePrincipalWhateverTheUser() throws Exception {
        assertThat(tenant(CHAT, HELLO, "anne")).isEqualTo("anne");
        assertThat(tenant("/v1/completions", "{\"prompt\": \"Hi\"}", "bob")).isEqualTo("bob");
        assertThat(tenant(CHAT, HELLO, null)).isEmpty();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    static class Servlets {
        @Bean
        FilterRegistrationBean<?> authentication() {
            return new FilterRegistrationBean<>((request, response, chain) -> chain.doFilter(
                    new HttpServletRequestWrapper((HttpServletRequest) request) {
                        @Override
                        public @Nullable Principal getUserPrincipal() {
                            String caller = getHeader("Caller");
                            return caller == null ? null : () -> caller;
                        }
                    },
                    response));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class Reactive {
        @Bean
        WebFilter authentication() {
            return (exchange, chain) -> {
                String caller = exchange.getRequest().getHeaders().getFirst("Caller");
                Mono<Principal> principal = Mono.justOrEmpty(caller).map(name -> () -> name);
                return chain.filter(exchange.mutate().principal(principal).build());
            };
        }
    }
}
