package io.github.iree4j.cluster;

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
import org.springframework.context.annotation.Bean;

/** The shape of this module. */
@AnalyzeClasses(
        packages = {"io.github.iree4j.cluster", "io.github.iree4j.spring.cluster"},
        importOptions = DoNotIncludeTests.class)
class ClusterArchitectureTests {

    @ArchTest
    static final ArchRule packagesAreFreeOfCycles =
            slices().matching("io.github.iree4j.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule nodesKnowNothingOfSpring = noClasses()
            .that()
            .resideInAPackage("io.github.iree4j.cluster..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.github.iree4j.spring..", "org.springframework..");

    @ArchTest
    static final ArchRule onlyTheTransportKnowsGrpc = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "io.github.iree4j.cluster.transport..", "io.github.iree4j.spring.cluster.autoconfigure..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.grpc..");

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
}
