# Ids of a few prompts in the demo's vocabularies, from the code that trained with them: vectors/token_ids.json.
import sys

import files

sys.path.append(str(files.TO.parent.parent / "data/train"))
import text  # noqa: E402

PROMPTS = ["", "a", "a photo of a cat", "a red circle on a blue background", "blurry, low quality", "  two   spaces ",
           "large green star at the bottom", "a green square moving right on a white background", "x1, (y) z!"]


def main():
    bpe, unigram = text.Bpe(), text.Unigram()
    files.save_json("vectors/token_ids.json", {"cases": [
        {"text": p, "clip": bpe.ids(p)[1:-1], "t5_spm": unigram.ids(p)[:-1] if p.strip() else []} for p in PROMPTS]})


if __name__ == "__main__":
    main()
