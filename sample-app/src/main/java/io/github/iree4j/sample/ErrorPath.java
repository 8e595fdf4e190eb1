package io.github.iree4j.sample;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;

/**
 * Hides the path to which the container dispatches failed requests. Spring Boot answers a client asking for this path
 * with 500, for lack of a failure, so that any client could raise the operator's alerts.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
class ErrorPath {

    @Bean
    FilterRegistrationBean<Filter> errorPathForTheContainerOnly() {
        FilterRegistrationBean<Filter> asked = new FilterRegistrationBean<>((_, response, _) ->
                ((HttpServletResponse) response).sendError(HttpServletResponse.SC_NOT_FOUND)); // not for dispatches
        asked.addUrlPatterns("/error");
        asked.setOrder(Ordered.HIGHEST_PRECEDENCE + 2); // behind the filter observing requests, to be counted
        return asked;
    }
}
