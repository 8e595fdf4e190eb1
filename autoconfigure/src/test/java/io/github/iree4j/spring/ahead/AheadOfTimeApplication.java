package io.github.iree4j.spring.ahead;

import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.InvocationService;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Calls a program and prints the device. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class AheadOfTimeApplication {
    record Found(Program program, Device device) {}

    @Bean
    Found found(@Qualifier("adding") Program program, @Qualifier("cpu") Device device) {
        return new Found(program, device);
    }

    public static void main(String[] arguments) {
        SpringApplication application = new SpringApplication(AheadOfTimeApplication.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        try (ConfigurableApplicationContext context = application.run(arguments);
                Results results = context.getBean(InvocationService.class).invoke("adding.add", 1, 2)) {
            Found found = context.getBean(Found.class);
            boolean same = found.program().devices().contains(found.device());
            System.out.printf("on %s 1 + 2 = %d%n", same ? "cpu" : "another", results.intValue(0));
        }
    }
}
