package io.github.iree4j.spring.autoconfigure.http;

import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestProblems;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.web.server.ResponseStatusException;

/** {@link AutoConfiguration Auto-configuration} for the problems of requests, over HTTP or gRPC. */
@AutoConfiguration(after = IreeHttpAutoConfiguration.class)
@ConditionalOnClass(ResponseStatusException.class)
@ConditionalOnBean(BodyLimits.class)
public final class IreeRequestProblemsAutoConfiguration {

    /** For Spring. */
    IreeRequestProblemsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    RequestProblems ireeRequestProblems(BodyLimits limits) {
        return new RequestProblems(limits);
    }
}
