package io.github.iree4j.peer;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationService;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * The same model behind two controllers that differ by the runtime only. ONNX Runtime computes on the thread of the
 * request; {@code iree.modules.mlp.location} and {@code peer.onnx} are the files of {@code make.py}.
 */
@SpringBootApplication
@RestController
class PeerApplication {
    private final InvocationService invocations;
    private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
    private final OrtSession session;

    PeerApplication(InvocationService invocations, @Value("${peer.onnx}") String model) throws OrtException {
        this.invocations = invocations;
        OrtSession.SessionOptions options = new OrtSession.SessionOptions();
        options.setIntraOpNumThreads(1);
        options.setInterOpNumThreads(1);
        session = environment.createSession(model, options);
    }

    /**
     * Starts the application.
     *
     * @param arguments properties
     */
    public static void main(String[] arguments) {
        SpringApplication.run(PeerApplication.class, arguments);
    }

    record Numbers(float[] data) {}

    @PostMapping("/onnxruntime")
    Numbers onnxruntime(@RequestBody Numbers question) throws OrtException {
        try (OnnxTensor x = OnnxTensor.createTensor(environment, new float[][] {question.data()});
                OrtSession.Result results = session.run(Map.of("x", x))) {
            return new Numbers(((float[][]) results.get(0).getValue())[0]);
        }
    }

    @PostMapping("/iree")
    Numbers iree(@RequestBody Numbers question) {
        try (Tensor x = Tensor.of(question.data(), 1, question.data().length);
                Results results = invocations.invoke("mlp.mlp", x)) {
            return new Numbers(results.tensor(0).toFloatArray());
        }
    }
}
