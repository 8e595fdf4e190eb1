package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.Integrity.Requirement;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.DefaultResourceLoader;

/** Checksums and signatures of the files of programs. */
class IntegrityTests {

    private final IreeRuntime runtime = IreeRuntime.create();

    @TempDir
    Path directory;

    private KeyPair keys;
    private Path module;
    private Path weights;
    private @Nullable Programs programs;

    @BeforeEach
    void makeFiles() throws IOException, GeneralSecurityException {
        keys = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        module = Files.copy(TestModules.fixture("3.13.0/cpu/weights.vmfb"), directory.resolve("weights.vmfb"));
        weights = Files.copy(TestModules.fixture("weights.irpa"), directory.resolve("weights.irpa"));
    }

    @AfterEach
    void nothingStaysOpen() {
        if (programs != null) {
            programs.close();
        }
        assertThat(runtime.programs()).isEmpty();
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        runtime.close();
    }

    private Programs requiring(Requirement required, @Nullable PublicKey key) {
        programs = new Programs(
                runtime, new DefaultResourceLoader(), status -> {}, options -> {}, new Integrity(required, key));
        return programs;
    }

    private byte[] signature(Path file, KeyPair by) throws IOException, GeneralSecurityException {
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(by.getPrivate());
        signer.update(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
        return signer.sign();
    }

    private Path sign(Path file) throws IOException, GeneralSecurityException {
        return Files.write(file.resolveSibling(file.getFileName() + ".sig"), signature(file, keys));
    }

    private static void damage(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 1] ^= 1;
        Files.write(file, bytes);
    }

    private ProgramSource.Builder source() {
        return ProgramSource.builder("weights", "file:" + module)
                .parameters(Map.of("model", List.of("file:" + weights)));
    }

    private static float[] weighed(Program program) {
        try (Tensor x = Tensor.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 2, 4);
                Results results = program.function("weigh").invoke(x)) {
            return results.tensor(0).toFloatArray();
        }
    }

    private static IreeException refused(Programs by, ProgramSource source, StatusCode code) {
        ProgramLoadException[] failure = new ProgramLoadException[1];
        assertThatExceptionOfType(ProgramLoadException.class)
                .isThrownBy(() -> by.load(source))
                .satisfies(e -> failure[0] = e);
        IreeException cause = (IreeException) failure[0].getCause();
        assertThat(cause.code()).as(cause.getMessage()).isEqualTo(code);
        return cause;
    }

    @Test
    void signedFilesAreLoadedWhereSignaturesAreRequired() throws Exception {
        sign(module);
        Files.writeString(
                weights.resolveSibling("weights.irpa.sig"),
                Base64.getMimeEncoder().encodeToString(signature(weights, keys)) + "\n");
        Programs all = requiring(Requirement.SIGNATURE, keys.getPublic());
        assertThat(weighed(all.load(source().build()).program()))
                .hasSize(weighed(all.find("weights").orElseThrow().program()).length);
    }

    @Test
    void damagedFilesAreRefused() throws Exception {
        sign(module);
        sign(weights);
        Programs all = requiring(Requirement.SIGNATURE, keys.getPublic());
        damage(weights);
        IreeException parameters = refused(all, source().build(), StatusCode.DATA_LOSS);
        assertThat(parameters)
                .hasMessageContaining("weights.irpa', with SHA-256 ")
                .hasMessageContaining("weights.irpa.sig'");
        assertThat(parameters.detail(IntegrityFault.class).orElseThrow().remedy())
                .contains("iree.integrity.public-key");
        damage(module);
        assertThat(refused(all, source().build(), StatusCode.DATA_LOSS)).hasMessageContaining("weights.vmfb.sig'");
    }

    @Test
    void filesWithoutASignatureAreRefusedIfASignatureIsRequired() throws Exception {
        Programs all = requiring(Requirement.SIGNATURE, keys.getPublic());
        assertThat(refused(all, source().build(), StatusCode.PERMISSION_DENIED))
                .hasMessageContaining("weights.vmfb' has no signature");
        sign(module);
        assertThat(refused(all, source().build(), StatusCode.PERMISSION_DENIED))
                .hasMessageContaining("weights.irpa' has no signature");
    }

    @Test
    void signaturesOfOthersAreRefused() throws Exception {
        Path other = Files.write(
                directory.resolve("other.sig"),
                signature(module, KeyPairGenerator.getInstance("Ed25519").generateKeyPair()));
        Programs all = requiring(Requirement.NONE, keys.getPublic());
        refused(all, source().signature("file:" + other).build(), StatusCode.DATA_LOSS);
        Files.write(other, new byte[0]);
        refused(all, source().signature("file:" + other).build(), StatusCode.DATA_LOSS);
        Files.write(other, new byte[5000]);
        refused(all, source().signature("file:" + other).build(), StatusCode.DATA_LOSS);
        Files.move(sign(module), other, StandardCopyOption.REPLACE_EXISTING);
        weighed(all.load(source().signature("file:" + other).build()).program());
    }

    @Test
    void signatureNeedsAKey() throws Exception {
        Path signature = sign(module);
        IreeException failure = refused(
                requiring(Requirement.NONE, null),
                source().signature("file:" + signature).build(),
                StatusCode.FAILED_PRECONDITION);
        assertThat(failure.detail(IntegrityFault.class).orElseThrow().remedy()).contains("iree.integrity.public-key");
        assertThatIllegalArgumentException().isThrownBy(() -> new Integrity(Requirement.SIGNATURE, null));
    }

    @Test
    void checksumOrSignatureIsRequiredByPolicy() throws Exception {
        Programs all = requiring(Requirement.CHECKSUM, keys.getPublic());
        assertThat(refused(all, source().build(), StatusCode.PERMISSION_DENIED))
                .hasMessageContaining("has neither a checksum nor a signature");
        String sha256 =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(module)));
        weighed(all.load(source().sha256(sha256).build()).program());
        weighed(all.load(source().signature("file:" + sign(module)).build()).program());
    }

    @Test
    void verifiedFilesArePrivateEvenIfMeantToBeMapped() throws Exception {
        sign(module);
        sign(weights);
        Programs all = requiring(Requirement.SIGNATURE, keys.getPublic());
        Program program = all.load(source().mapped(true).build()).program();
        float[] right = weighed(program);
        for (Path file : List.of(module, weights)) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(1);
            }
        }
        assertThat(weighed(program)).containsExactly(right);
        try (Program second = program.newInstance()) {
            assertThat(weighed(second)).containsExactly(right);
        }
    }

    @Test
    void propertiesConfigureThePolicy() throws Exception {
        Path key = Files.writeString(
                directory.resolve("key.pem"),
                "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
                        .formatted(Base64.getMimeEncoder()
                                .encodeToString(keys.getPublic().getEncoded())));
        ApplicationContextRunner context = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class))
                .withPropertyValues(
                        "iree.modules.weights.location=file:" + module,
                        "iree.modules.weights.parameters.model=file:" + weights,
                        "iree.integrity.require=signature");
        context.run(failed -> assertThat(failed)
                .getFailure()
                .rootCause()
                .hasMessageContaining("iree.integrity.require")
                .hasMessageContaining("there is no public key"));
        context.withPropertyValues("iree.integrity.public-key=file:" + weights)
                .run(failed ->
                        assertThat(failed).getFailure().rootCause().hasMessageContaining("iree.integrity.public-key"));
        ApplicationContextRunner signed = context.withPropertyValues("iree.integrity.public-key=file:" + key);
        signed.run(failed -> assertThat(failed).getFailure().rootCause().hasMessageContaining(".sig"));
        sign(weights);
        Path elsewhere = Files.move(sign(module), directory.resolve("elsewhere.sig"));
        signed.withPropertyValues("iree.modules.weights.signature=file:" + elsewhere)
                .run(loaded -> assertThat(loaded).hasNotFailed());
    }

    /** The commands of docs/trust.md. */
    @Test
    void opensslMakesSignatures() throws Exception {
        String commands = """
                openssl genpkey -algorithm ed25519 -out key.pem && openssl pkey -in key.pem -pubout -out public.pem
                openssl dgst -sha256 -binary -out digest x.vmfb
                openssl pkeyutl -sign -rawin -inkey key.pem -in digest -out x.vmfb.sig
                """;
        assertThat(Files.readString(Path.of("../docs/trust.md"))).contains(commands);
        Path signed = Files.copy(module, directory.resolve("x.vmfb"));
        Process shell = new ProcessBuilder("sh", "-ec", "command -v openssl || exit 77; " + commands)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = shell.waitFor();
        assumeTrue(status != 77, "needs openssl");
        assertThat(status).as(output).isZero();
        Programs all = requiring(Requirement.NONE, Integrity.key(Files.readString(directory.resolve("public.pem"))));
        ProgramSource source = ProgramSource.builder("weights", "file:" + signed)
                .signature("file:" + signed + ".sig")
                .parameters(Map.of("model", List.of("file:" + weights)))
                .build();
        weighed(all.load(source).program());
        damage(signed);
        refused(all, source, StatusCode.DATA_LOSS);
    }
}
