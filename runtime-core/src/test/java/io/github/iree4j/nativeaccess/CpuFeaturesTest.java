package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CpuFeaturesTest {
    @Test
    void architectureMatchesTheJvms() {
        String expected = switch (System.getProperty("os.arch")) {
            case "amd64" -> "x86_64";
            case "aarch64" -> "arm_64";
            default -> "another";
        };
        assertThat(CpuFeatures.architecture()).isEqualTo(expected);
    }

    @Test
    void featuresMatchTheReportOfTheKernel() throws Exception {
        assumeTrue(CpuFeatures.architecture().equals("x86_64"), "compares with flags of x86_64 in /proc/cpuinfo");
        List<String> flags = Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                .filter(line -> line.startsWith("flags"))
                .findFirst()
                .map(line ->
                        List.of(line.substring(line.indexOf(':') + 1).strip().split(" ")))
                .orElseThrow();
        Map<String, String> kernelNames = Map.ofEntries(
                Map.entry("sse3", "pni"),
                Map.entry("ssse3", "ssse3"),
                Map.entry("sse4.1", "sse4_1"),
                Map.entry("sse4.2", "sse4_2"),
                Map.entry("sse4a", "sse4a"),
                Map.entry("avx", "avx"),
                Map.entry("fma", "fma"),
                Map.entry("f16c", "f16c"),
                Map.entry("avx2", "avx2"),
                Map.entry("avx512f", "avx512f"),
                Map.entry("avx512cd", "avx512cd"),
                Map.entry("avx512vl", "avx512vl"),
                Map.entry("avx512dq", "avx512dq"),
                Map.entry("avx512bw", "avx512bw"),
                Map.entry("avx512ifma", "avx512ifma"),
                Map.entry("avx512vbmi", "avx512vbmi"),
                Map.entry("avx512vnni", "avx512_vnni"),
                Map.entry("avx512vbmi2", "avx512_vbmi2"),
                Map.entry("avx512bitalg", "avx512_bitalg"),
                Map.entry("avx512vpopcntdq", "avx512_vpopcntdq"),
                Map.entry("avx512bf16", "avx512_bf16"));
        kernelNames.forEach(
                (name, flag) -> assertThat(CpuFeatures.has(name)).as(name).isEqualTo(flags.contains(flag)));
    }

    @Test
    void unknownFeaturesAreAbsentAndReportedAsUnknown() {
        assertThat(CpuFeatures.has("warp-drive")).isFalse();
        assertThat(CpuFeatures.isKnown("warp-drive")).isFalse();
        assertThat(CpuFeatures.has("")).isFalse();
        assertThat(CpuFeatures.isKnown(CpuFeatures.architecture().equals("x86_64") ? "avx2" : "sve"))
                .isTrue();
    }

    @Test
    void fieldsAreACopy() {
        long[] fields = CpuFeatures.fields();
        assertThat(fields).hasSize(CpuFeatures.FIELD_COUNT);
        fields[0] = ~fields[0];
        assertThat(CpuFeatures.fields()[0]).isNotEqualTo(fields[0]);
    }
}
