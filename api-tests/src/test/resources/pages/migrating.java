package pages;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import io.github.iree4j.spring.client.IreeClient;
import io.github.iree4j.spring.client.IreeFunction;
import java.nio.file.Path;

class AfterOnnxRuntime {
    Digits digits;

    // fence 2
}

class BeforeDjl {
    BeforeDjl() throws Exception {}

    // fence 3
}
