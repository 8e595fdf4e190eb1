package io.github.iree4j.sample;

import io.github.iree4j.spring.serving.FormRefusal;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.http.MediaType;

/** Refuses forms on all paths, since this application has none. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
class NoForms {

    @Bean
    FilterRegistrationBean<FormRefusal> refusalOfForms() {
        FilterRegistrationBean<FormRefusal> everywhere = new FilterRegistrationBean<>(
                new FormRefusal(
                        MediaType.APPLICATION_PROBLEM_JSON_VALUE,
                        "{\"title\":\"Unsupported Media Type\",\"status\":415,\"detail\":\"forms are not supported; name the type of the body, such as 'Content-Type: application/json'\"}"));
        everywhere.setOrder(Ordered.HIGHEST_PRECEDENCE + 1); // behind the protocol's refusal: the answer differs
        return everywhere;
    }
}
