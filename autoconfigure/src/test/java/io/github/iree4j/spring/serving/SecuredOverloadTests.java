package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** Behind Spring Security, which sees a request after its wait for a second time. */
@Import(SecuredOverloadTests.Security.class)
class SecuredOverloadTests extends OverloadTests {

    @Override
    HttpRequest.Builder request(String input, String parameters) {
        return super.request(input, parameters)
                .header(
                        "Authorization",
                        "Basic "
                                + Base64.getEncoder()
                                        .encodeToString("user:secret".getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void aRequestWithoutCredentialsTakesNoPlace() throws Exception {
        HttpRequest stranger = super.request("{}", "").build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            assertThat(client.send(stranger, BodyHandlers.ofString()).statusCode())
                    .isEqualTo(401);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebSecurity
    static class Security {
        @Bean
        SecurityFilterChain chain(HttpSecurity http) {
            return http.csrf(csrf -> csrf.disable())
                    .httpBasic(Customizer.withDefaults())
                    .authorizeHttpRequests(requests -> requests.requestMatchers("/v2/health/**")
                            .permitAll()
                            .anyRequest()
                            .authenticated())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("user").password("{noop}secret").build());
        }

        /** For all dispatches, as Spring Boot registers the filter. */
        @Bean
        FilterRegistrationBean<Filter> registration(Filter springSecurityFilterChain) {
            FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>(springSecurityFilterChain);
            registration.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
            registration.setOrder(-100);
            return registration;
        }
    }
}
