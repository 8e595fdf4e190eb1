package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.DynamicMessage;
import io.github.iree4j.spring.TestModules;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.grpc.server.security.AuthenticationProcessInterceptor;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.ReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** The protocol over gRPC with and without the security of Spring gRPC, and with Spring Security in front of HTTP alone. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(600)
class GrpcAuthenticationTests {

    private static final List<String> REPOSITORY =
            List.of("RepositoryIndex", "RepositoryModelLoad", "RepositoryModelUnload");

    @TempDir
    private static Path directory;

    private static ConfigurableApplicationContext start(
            WebApplicationType web, Class<?> configuration, String... properties) throws Exception {
        return new SpringApplicationBuilder(Application.class, configuration)
                .web(web)
                .properties(
                        "server.port=0",
                        "spring.grpc.server.enabled=true",
                        "spring.grpc.server.port=0",
                        "iree.serving.enabled=true",
                        "iree.serving.functions.adder=add",
                        "iree.modules.adder.location=" + TestModules.adder(directory))
                .properties(properties)
                .run("--spring.grpc.server.enabled=true");
    }

    private static GrpcClient connect(ConfigurableApplicationContext application) {
        return new GrpcClient(application.getBean(GrpcServerLifecycle.class).getPort());
    }

    private static byte[] adder(String method) {
        return GrpcClient.message(method + "Request", "model_name", "adder")
                .build()
                .toByteArray();
    }

    private static byte[] request(String method) {
        return method.equals("RepositoryIndex") ? new byte[0] : adder(method);
    }

    private static boolean isReady(GrpcClient client) {
        return (boolean) GrpcClient.get(client.ask("ModelReady", "name", "adder"), "ready");
    }

    private static void assertRepositoryIsClosed(ConfigurableApplicationContext application) throws Exception {
        GrpcClient client = connect(application);
        for (String method : REPOSITORY) {
            Status refused = client.refused(method, request(method));
            assertThat(refused.getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
            assertThat(refused.getDescription())
                    .contains("AuthenticationProcessInterceptor", "iree.serving.grpc.authentication");
        }
        assertThat(isReady(client)).isTrue();
        client.close();
    }

    @Test
    void repositoryIsNotServedWithoutAuthentication(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext application =
                start(WebApplicationType.NONE, Application.class, "iree.serving.repository=true")) {
            assertRepositoryIsClosed(application);
            assertThat(output)
                    .contains("iree.serving.repository=true has no effect over gRPC, on port "
                            + application.getBean(GrpcServerLifecycle.class).getPort());
        }
    }

    @Test
    void clientsAuthenticatedBySpringUseTheRepository(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext application = start(
                WebApplicationType.NONE,
                Secured.class,
                "iree.serving.repository=true",
                "iree.serving.grpc.authentication=required")) {
            GrpcClient client = connect(application);
            for (String method : REPOSITORY) {
                assertThat(client.refused(method, request(method)).getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
            }
            assertThat(client.refused("ModelInfer", adder("ModelInfer")).getCode())
                    .isEqualTo(Status.Code.UNAUTHENTICATED);
            client.close();
            Metadata credentials = new Metadata();
            credentials.put(
                    Metadata.Key.of("Authorization", Metadata.ASCII_STRING_MARSHALLER),
                    "Basic " + Base64.getEncoder().encodeToString("operator:secret".getBytes(StandardCharsets.UTF_8)));
            GrpcClient operator = connect(application).with(MetadataUtils.newAttachHeadersInterceptor(credentials));
            assertThat(GrpcClient.<DynamicMessage>all(operator.ask("RepositoryIndex"), "models"))
                    .hasSize(1);
            operator.call("RepositoryModelUnload", CallOptions.DEFAULT, adder("RepositoryModelUnload"));
            assertThat(isReady(operator)).isFalse();
            operator.close();
            assertThat(output).doesNotContain("no bean of type 'AuthenticationProcessInterceptor'");
        }
    }

    @Test
    void securityOfHttpAloneIsNoted(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext application =
                start(WebApplicationType.SERVLET, HttpSecured.class, "iree.serving.repository=true")) {
            assertRepositoryIsClosed(application);
            assertThat(output)
                    .contains(
                            "whoever reaches port "
                                    + application
                                            .getBean(GrpcServerLifecycle.class)
                                            .getPort(),
                            "no bean of type 'AuthenticationProcessInterceptor' with '@GlobalServerInterceptor'",
                            "iree.serving.grpc.authentication=elsewhere",
                            "iree.serving.grpc.enabled=false");
        }
    }

    @Test
    void securityOfWebFluxAloneIsNoted(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext _ = start(WebApplicationType.REACTIVE, ReactiveSecured.class)) {
            assertThat(output).contains("Spring Security is in front of HTTP only");
        }
    }

    @Test
    void unappliedInterceptorIsNone(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext application =
                start(WebApplicationType.NONE, NotApplied.class, "iree.serving.repository=true")) {
            assertRepositoryIsClosed(application);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Application.class, HttpSecured.class})
    void otherAuthenticationIsKnownToTheOperator(Class<?> configuration, CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext application = start(
                configuration == Application.class ? WebApplicationType.NONE : WebApplicationType.SERVLET,
                configuration,
                "iree.serving.repository=true",
                "iree.serving.grpc.authentication=elsewhere")) {
            GrpcClient client = connect(application);
            assertThat(GrpcClient.<DynamicMessage>all(client.ask("RepositoryIndex"), "models"))
                    .hasSize(1);
            client.close();
            assertThat(output).doesNotContain("no bean of type 'AuthenticationProcessInterceptor'");
        }
    }

    @Test
    void applicationDoesNotStartWithoutRequiredAuthentication(CapturedOutput output) {
        assertThatThrownBy(() ->
                        start(WebApplicationType.NONE, NotApplied.class, "iree.serving.grpc.authentication=required"))
                .isInstanceOf(Exception.class);
        assertThat(output)
                .contains("iree.serving.grpc.authentication", "Nothing authenticates clients of gRPC", "elsewhere");
    }

    @Test
    void withoutAServerNothingIsRequired(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext _ = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("iree.serving.enabled=true", "iree.serving.grpc.authentication=required")
                .run()) {
            assertThat(output).doesNotContain("no bean of type 'AuthenticationProcessInterceptor'");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    static class Users {
        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(User.withUsername("operator")
                    .password("{noop}secret")
                    .roles("OPERATOR")
                    .build());
        }
    }

    /** As in docs/security.md. */
    @Configuration(proxyBeanMethods = false)
    static class Secured extends Users {
        @Bean
        @GlobalServerInterceptor
        AuthenticationProcessInterceptor grpcAuthentication(GrpcSecurity grpc) throws Exception {
            return grpc.authorizeRequests(requests -> requests.methods("inference.GRPCInferenceService/Repository*")
                            .hasAuthority("ROLE_OPERATOR")
                            .allRequests()
                            .authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NotApplied extends Users {
        @Bean
        ServerInterceptor grpcAuthentication(GrpcSecurity grpc) throws Exception {
            return grpc.authorizeRequests(requests -> requests.allRequests().authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebSecurity
    static class HttpSecured extends Users {
        @Bean
        SecurityFilterChain everything(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebFluxSecurity
    static class ReactiveSecured {
        @Bean
        ReactiveUserDetailsService reactiveUsers() {
            return new MapReactiveUserDetailsService(
                    User.withUsername("user").password("{noop}secret").build());
        }
    }
}
