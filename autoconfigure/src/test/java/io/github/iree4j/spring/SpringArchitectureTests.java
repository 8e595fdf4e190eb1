package io.github.iree4j.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.annotation.Bean;

/** The shape of Spring Boot's own modules. */
@AnalyzeClasses(packages = "io.github.iree4j.spring", importOptions = DoNotIncludeTests.class)
class SpringArchitectureTests {

    @ArchTest
    static final ArchRule packagesAreFreeOfCycles =
            slices().matching("io.github.iree4j.(spring..)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule autoConfigurationsArePublicAndFinal = classes()
            .that()
            .areAnnotatedWith(AutoConfiguration.class)
            .should()
            .bePublic()
            .andShould()
            .haveModifier(JavaModifier.FINAL);

    @ArchTest
    static final ArchRule beanMethodsArePackagePrivateAndBackOff = methods()
            .that()
            .areAnnotatedWith(Bean.class)
            .should()
            .bePackagePrivate()
            .andShould()
            .beAnnotatedWith(ConditionalOnMissingBean.class);

    @ArchTest
    static final ArchRule analyzersAreNobodysBusiness =
            classes().that().areAssignableTo(FailureAnalyzer.class).should().bePackagePrivate();

    @ArchTest
    static final ArchRule plainClassesKnowNothingOfAutoConfiguration = noClasses()
            .that()
            .resideOutsideOfPackage("io.github.iree4j.spring.autoconfigure..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.github.iree4j.spring.autoconfigure..", "org.springframework.boot.autoconfigure..");
}
