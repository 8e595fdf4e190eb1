package io.github.iree4j.spring.autoconfigure.serving;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FeatureSet;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.annotation.ImportRuntimeHints;

class GrpcRuntimeHintsTests {

    @Test
    void descriptorsAreReadByTheNamesOfTheirMethods() {
        RuntimeHints hints = new RuntimeHints();
        new GrpcRuntimeHints().registerHints(hints, getClass().getClassLoader());
        for (Class<?> type : new Class<?>[] {
            FileDescriptorProto.class,
            FileDescriptorProto.Builder.class,
            DescriptorProto.class,
            FieldDescriptorProto.Type.class,
            FeatureSet.class
        }) {
            assertThat(RuntimeHintsPredicates.reflection()
                            .onType(type)
                            .withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS))
                    .as(type.getName())
                    .accepts(hints);
        }
        assertThat(IreeGrpcServingAutoConfiguration.class
                        .getAnnotation(ImportRuntimeHints.class)
                        .value())
                .containsExactly(GrpcRuntimeHints.class);
    }

    @Test
    void nothingIsRegisteredWithoutProtocolBuffers() {
        RuntimeHints hints = new RuntimeHints();
        new GrpcRuntimeHints().registerHints(hints, new FilteredClassLoader("com.google.protobuf"));
        assertThat(hints.reflection().typeHints()).isEmpty();
    }
}
