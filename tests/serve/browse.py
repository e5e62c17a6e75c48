#!/usr/bin/env python3
"""Opens a page in a headless Chromium until its text matches, and keeps its picture: browse.py BROWSER URL REGEX PICTURE PROFILE."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from chromium import Chromium

browser, url, wanted, picture, profile = sys.argv[1:6]
chromium = Chromium(browser, profile)
try:
    page = chromium.page
    page.open(url)
    for _ in range(600):
        text = page.run("document.documentElement ? document.documentElement.outerHTML : ''")
        if re.search(wanted, text) or "failed:" in text:
            break
        time.sleep(0.1)
    time.sleep(0.5)  # pictures that are being drawn
    page.shot(picture)
    print(text)
finally:
    chromium.close()
sys.exit(0 if re.search(wanted, text) else 1)
