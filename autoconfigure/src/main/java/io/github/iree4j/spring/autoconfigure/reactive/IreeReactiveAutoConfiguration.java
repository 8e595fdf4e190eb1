package io.github.iree4j.spring.autoconfigure.reactive;

import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.reactive.ReactiveInvocationService;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import reactor.core.publisher.Mono;

/** {@link AutoConfiguration Auto-configuration} for calls of programs with Reactor. */
@AutoConfiguration(after = IreeAutoConfiguration.class)
@ConditionalOnClass(Mono.class)
@ConditionalOnBean(InvocationService.class)
public final class IreeReactiveAutoConfiguration {

    /** For Spring. */
    IreeReactiveAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    ReactiveInvocationService ireeReactiveInvocationService(
            ObjectProvider<InvocationOperations> invocations, InvocationService service) {
        return new ReactiveInvocationService(invocations.getIfUnique(() -> service));
    }
}
