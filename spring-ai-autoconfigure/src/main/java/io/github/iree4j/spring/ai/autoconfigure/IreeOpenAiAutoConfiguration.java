package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ai.IreeChatModel;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel;
import io.github.iree4j.spring.ai.openai.OpenAiController;
import io.github.iree4j.spring.ai.openai.OpenAiErrors;
import io.github.iree4j.spring.ai.openai.OpenAiModels;
import io.github.iree4j.spring.ai.openai.ReactiveOpenAiController;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpProperties;
import io.github.iree4j.spring.autoconfigure.http.ServerThreads;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.serving.FormRefusal;
import io.github.iree4j.spring.serving.ProtocolErrors;
import io.github.iree4j.spring.serving.UndecodableRequests;
import jakarta.servlet.DispatcherType;
import java.util.List;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.servlet.DispatcherServlet;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@link AutoConfiguration Auto-configuration} for OpenAI's interface to {@link IreeChatModel} and
 * {@link IreeEmbeddingModel}. A model that the application does not have is answered with 404.
 */
@AutoConfiguration(
        after = {IreeChatAutoConfiguration.class, IreeEmbeddingAutoConfiguration.class, IreeHttpAutoConfiguration.class
        })
@ConditionalOnClass({ChatModel.class, InvocationService.class, JsonMapper.class})
@ConditionalOnBean({InvocationService.class, BodyLimits.class})
@ConditionalOnBooleanProperty("iree.openai.enabled")
@EnableConfigurationProperties(IreeOpenAiProperties.class)
public final class IreeOpenAiAutoConfiguration {

    private static final int MANY_REQUESTS = 256;
    private static final int SHARE = 2;

    /** For Spring. */
    IreeOpenAiAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    OpenAiModels ireeOpenAiModels(ObjectProvider<IreeChatModel> chat, ObjectProvider<IreeEmbeddingModel> embedding) {
        return new OpenAiModels(chat.getIfAvailable(), embedding.getIfAvailable());
    }

    /** Configuration for Spring MVC. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DispatcherServlet.class)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    static class ServletConfiguration {

        @Bean
        @ConditionalOnMissingBean
        OpenAiController ireeOpenAiController(
                OpenAiModels models,
                IreeOpenAiProperties properties,
                IreeHttpProperties http,
                BodyLimits limits,
                Environment environment) {
            int requests = ServerThreads.share(environment, SHARE, MANY_REQUESTS);
            return new OpenAiController(models, properties.options(http, requests), limits);
        }

        @Bean
        @ConditionalOnMissingBean(name = "ireeOpenAiUnservedPaths")
        org.springframework.web.servlet.HandlerMapping ireeOpenAiUnservedPaths(OpenAiController controller) {
            return controller.unservedPaths();
        }

        @Bean
        @ConditionalOnMissingBean(name = "ireeOpenAiFormRefusal")
        FilterRegistrationBean<FormRefusal> ireeOpenAiFormRefusal(Environment environment) {
            FilterRegistrationBean<FormRefusal> registration = new FilterRegistrationBean<>(OpenAiErrors.formRefusal());
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
            registration.setUrlPatterns(paths(environment));
            return registration;
        }

        @Bean
        @ConditionalOnMissingBean(name = "ireeOpenAiErrors")
        FilterRegistrationBean<ProtocolErrors> ireeOpenAiErrors(Environment environment) {
            FilterRegistrationBean<ProtocolErrors> registration =
                    new FilterRegistrationBean<>(OpenAiErrors.filter(paths(environment)));
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
            registration.setDispatcherTypes(DispatcherType.ERROR);
            return registration;
        }

        /** Returns the paths of the interface, below the application's path of controllers. */
        private static List<String> paths(Environment environment) {
            String prefix =
                    StringUtils.trimTrailingCharacter(environment.getProperty("spring.mvc.servlet.path", ""), '/');
            return OpenAiErrors.PATHS.stream().map(prefix::concat).toList();
        }
    }

    /** Configuration for Spring WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({DispatcherHandler.class, Mono.class})
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class ReactiveConfiguration {

        @Bean
        @ConditionalOnMissingBean
        ReactiveOpenAiController ireeReactiveOpenAiController(
                OpenAiModels models, IreeOpenAiProperties properties, IreeHttpProperties http, BodyLimits limits) {
            return new ReactiveOpenAiController(models, properties.options(http, MANY_REQUESTS), limits);
        }

        @Bean
        @ConditionalOnMissingBean(name = "ireeOpenAiUnservedPaths")
        org.springframework.web.reactive.HandlerMapping ireeOpenAiUnservedPaths(ReactiveOpenAiController controller) {
            return controller.unservedPaths();
        }
    }

    /** Configuration for Spring WebFlux on Netty. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({NettyReactiveWebServerFactory.class, DispatcherHandler.class})
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class NettyConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "ireeOpenAiUndecodableRequests")
        WebServerFactoryCustomizer<NettyReactiveWebServerFactory> ireeOpenAiUndecodableRequests(
                Environment environment) {
            String path =
                    StringUtils.trimTrailingCharacter(environment.getProperty("spring.webflux.base-path", ""), '/')
                            + "/v1";
            return factory -> factory.addServerCustomizers(server -> server.doOnChannelInit(
                    (_, channel, _) -> UndecodableRequests.addTo(channel.pipeline(), path, OpenAiErrors::undecodable)));
        }
    }
}
