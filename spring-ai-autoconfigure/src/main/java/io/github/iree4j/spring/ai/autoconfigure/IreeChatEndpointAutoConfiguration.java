package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.generation.Generator;
import io.github.iree4j.spring.ai.ChatEngine;
import io.github.iree4j.spring.ai.IreeChatModel;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** {@link AutoConfiguration Auto-configuration} for {@link GenerationEndpointPart}. */
@AutoConfiguration(
        after = IreeChatAutoConfiguration.class,
        beforeName = "io.github.iree4j.spring.autoconfigure.endpoint.IreeEndpointAutoConfiguration")
@ConditionalOnClass({ChatModel.class, Generator.class, OperationResponseBody.class})
@ConditionalOnBean(IreeChatModel.class)
public final class IreeChatEndpointAutoConfiguration {

    /** For Spring. */
    IreeChatEndpointAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    GenerationEndpointPart ireeGenerationEndpointPart(IreeChatModel model) {
        return new GenerationEndpointPart(ChatEngine.of(model));
    }
}
