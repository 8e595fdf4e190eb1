package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.generation.Generator;
import io.github.iree4j.spring.ai.IreeChatMetrics;
import io.github.iree4j.spring.ai.IreeChatModel;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** {@link AutoConfiguration Auto-configuration} for {@link IreeChatMetrics}. */
@AutoConfiguration(
        after = IreeChatAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass({ChatModel.class, Generator.class, MeterRegistry.class})
@ConditionalOnBean({IreeChatModel.class, MeterRegistry.class})
public final class IreeChatMetricsAutoConfiguration {

    /** For Spring. */
    IreeChatMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    IreeChatMetrics ireeChatMetrics(IreeChatModel model) {
        return new IreeChatMetrics(model);
    }
}
