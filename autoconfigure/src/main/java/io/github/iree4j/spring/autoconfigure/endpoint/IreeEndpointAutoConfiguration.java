package io.github.iree4j.spring.autoconfigure.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.actuate.endpoint.EndpointPart;
import io.github.iree4j.spring.actuate.endpoint.IreeEndpoint;
import io.github.iree4j.spring.actuate.endpoint.IreeEndpointWebExtension;
import io.github.iree4j.spring.actuate.endpoint.IreeLabEndpoint;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.problems.Watchdog;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.web.servlet.DispatcherServlet;

/** {@link AutoConfiguration Auto-configuration} for {@link IreeEndpoint} and, with the console, {@link IreeLabEndpoint}. */
@AutoConfiguration(after = IreeAutoConfiguration.class)
@ConditionalOnClass({IreeRuntime.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnBean({IreeRuntime.class, Programs.class})
@ImportRuntimeHints(IreeEndpointRuntimeHints.class)
public final class IreeEndpointAutoConfiguration {

    /** For Spring. */
    IreeEndpointAutoConfiguration() {}

    // Not on the class: the condition would be loaded even without Actuator.
    @Bean
    @ConditionalOnAvailableEndpoint(IreeEndpoint.class)
    @ConditionalOnMissingBean
    IreeEndpoint ireeEndpoint(
            IreeRuntime runtime,
            Programs programs,
            IreeEvents events,
            InvocationService invocations,
            ObjectProvider<Watchdog> watchdog,
            ObjectProvider<FlightRecorder> recorder,
            ObjectProvider<EndpointPart> parts) {
        return new IreeEndpoint(
                runtime,
                programs,
                events,
                () -> watchdog.stream()
                        .flatMap(each -> each.problems().stream())
                        .toList(),
                invocations.monitor()::takeMostInFlight,
                recorder.getIfAvailable(),
                parts.orderedStream().toList());
    }

    /** Spring MVC sends a response that comes later, and has no thread waiting. */
    @Bean("ireeEndpointWebExtension")
    @ConditionalOnAvailableEndpoint(endpoint = IreeEndpointWebExtension.class, exposure = EndpointExposure.WEB)
    @ConditionalOnClass(DispatcherServlet.class)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    @ConditionalOnMissingBean
    IreeEndpointWebExtension detachingWebExtension(IreeEndpoint endpoint, ObjectProvider<FlightRecorder> recorder) {
        return new IreeEndpointWebExtension(endpoint, recorder.getIfAvailable(), true);
    }

    @Bean
    @ConditionalOnAvailableEndpoint(endpoint = IreeEndpointWebExtension.class, exposure = EndpointExposure.WEB)
    @ConditionalOnMissingBean
    IreeEndpointWebExtension ireeEndpointWebExtension(IreeEndpoint endpoint, ObjectProvider<FlightRecorder> recorder) {
        return new IreeEndpointWebExtension(endpoint, recorder.getIfAvailable(), false);
    }

    /** As for the exports. */
    @Bean("ireeLabEndpoint")
    @ConditionalOnAvailableEndpoint(IreeLabEndpoint.class)
    @ConditionalOnBooleanProperty("iree.console.enabled")
    @ConditionalOnClass(DispatcherServlet.class)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    @ConditionalOnMissingBean
    IreeLabEndpoint detachingLabEndpoint(ObjectProvider<FlightRecorder> recorder) {
        return new IreeLabEndpoint(recorder.getIfAvailable(), true);
    }

    @Bean
    @ConditionalOnAvailableEndpoint(IreeLabEndpoint.class)
    @ConditionalOnBooleanProperty("iree.console.enabled")
    @ConditionalOnMissingBean
    IreeLabEndpoint ireeLabEndpoint(ObjectProvider<FlightRecorder> recorder) {
        return new IreeLabEndpoint(recorder.getIfAvailable(), false);
    }
}
