package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeModuleCustomizer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;

/** An application with a program that ends calls on a test's command. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class GateApplication {
    final Semaphore gate = new Semaphore(0);
    final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger inside = new AtomicInteger();

    /** Sets the location of the module: a module must have a file, although the function here comes from Java. */
    static void locate(DynamicPropertyRegistry registry, Path directory) {
        registry.add("iree.modules.gate.location", () -> {
            try {
                return TestModules.adder(directory).toString();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Bean
    IreeModuleCustomizer gate() {
        return (name, options) -> options.module(NativeModule.builder("gate", 1, () -> this)
                .function("pass", "0i_i", (_, call) -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    try {
                        gate.acquire();
                        call.returnI32(call.i32());
                    } catch (InterruptedException e) {
                        throw IreeException.of(StatusCode.CANCELLED, "interrupted", e);
                    } finally {
                        inside.decrementAndGet();
                    }
                })
                .attribute("iree.abi.declaration", "sync func @pass(%x: i32) -> (%y: i32)")
                .build());
    }
}
