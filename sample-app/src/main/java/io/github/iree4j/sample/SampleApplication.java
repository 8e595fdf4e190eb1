package io.github.iree4j.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Starts the sample. */
@SpringBootApplication
public class SampleApplication {
    /** For Spring. */
    public SampleApplication() {}

    /** Starts the application; arguments are Spring Boot's. */
    public static void main(String[] args) {
        SpringApplication.run(SampleApplication.class, args);
    }
}
