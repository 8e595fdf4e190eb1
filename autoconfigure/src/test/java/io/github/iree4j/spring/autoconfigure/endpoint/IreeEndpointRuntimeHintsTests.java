package io.github.iree4j.spring.autoconfigure.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.iree4j.spring.actuate.endpoint.IreeEndpoint;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

class IreeEndpointRuntimeHintsTests {

    @Test
    void everyRecordOfTheEndpointCanBeWritten() {
        RuntimeHints hints = new RuntimeHints();
        new IreeEndpointRuntimeHints().registerHints(hints, getClass().getClassLoader());
        new ClassFileImporter()
                        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                        .importPackages(IreeEndpoint.class.getPackageName())
                        .stream()
                        .filter(JavaClass::isRecord)
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .forEach(type -> assertThat(
                                        RuntimeHintsPredicates.reflection().onType(type.reflect()))
                                .as(type.getName())
                                .accepts(hints));
    }
}
