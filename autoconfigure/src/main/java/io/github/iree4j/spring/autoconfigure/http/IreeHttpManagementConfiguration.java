package io.github.iree4j.spring.autoconfigure.http;

import io.github.iree4j.spring.serving.FormRefusal;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * {@link ManagementContextConfiguration @ManagementContextConfiguration} for a separate port of Actuator: filters of
 * the application do not work there.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "iree.enabled", matchIfMissing = true)
final class IreeHttpManagementConfiguration {

    /** For Spring. */
    IreeHttpManagementConfiguration() {}

    /** Configuration for Spring MVC, the stack that reads multipart bodies before any handler. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({DispatcherServlet.class, FilterRegistrationBean.class})
    @ConditionalOnWebApplication(type = Type.SERVLET)
    static class ServletConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "ireeMultipartRefusal")
        FilterRegistrationBean<FormRefusal> ireeMultipartRefusal() {
            FilterRegistrationBean<FormRefusal> registration = new FilterRegistrationBean<>(FormRefusal.ofMultipart());
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return registration;
        }
    }
}
